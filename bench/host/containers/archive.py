"""Exports an image as an OCI archive, which Apptainer, Podman and skopeo read.

Newer engines save images in the OCI layout already. Older ones save Docker's own layout: a manifest that names a
configuration and uncompressed layers, whose digests the configuration lists. The OCI layout stores the same bytes under
other names.
Image specification: https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from .engine import Engine

LAYOUT = {"imageLayoutVersion": "1.0.0"}
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"


class ArchiveError(Exception):
    """An image cannot be exported; the message gives the reason."""


def export(engine: Engine, tag: str, path: Path) -> None:
    """Write the image to ``path`` as an OCI archive. After an error ``path`` is as before.

    Raises ArchiveError and OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    try:
        with tempfile.TemporaryFile(dir=path.parent) as saved:
            for piece in engine.api.get_image(tag):
                saved.write(piece)
            saved.seek(0)
            with tarfile.open(fileobj=saved) as source, partial.open("wb") as file:
                if "oci-layout" in source.getnames():
                    saved.seek(0)
                    shutil.copyfileobj(saved, file)
                else:
                    with tarfile.open(fileobj=file, mode="w") as target:
                        _convert(source, target, tag)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _convert(source: tarfile.TarFile, target: tarfile.TarFile, tag: str) -> None:
    """Convert an archive in Docker's layout to the OCI layout."""
    saved = json.loads(_read(source, "manifest.json"))[0]
    config = _read(source, saved["Config"])
    layers = []
    for name, digest in zip(saved["Layers"], json.loads(config)["rootfs"]["diff_ids"], strict=True):
        layers.append(_describe(LAYER_TYPE, digest, _copy_layer(source, name, target, digest)))
    manifest = _json(
        {"schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": _blob(target, CONFIG_TYPE, config), "layers": layers}
    )
    described = _blob(target, MANIFEST_TYPE, manifest)
    # The annotation is a tag, without the repository.
    described["annotations"] = {"org.opencontainers.image.ref.name": tag.rpartition(":")[2]}
    index = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [described]}
    _add(target, "index.json", _json(index))
    _add(target, "oci-layout", _json(LAYOUT))


def _copy_layer(source: tarfile.TarFile, name: str, target: tarfile.TarFile, digest: str) -> int:
    """Copy a layer under its digest and return its size. Raises ArchiveError when the content has another digest."""
    member = source.getmember(name)
    # Layers that several tags share are links to the first.
    while member.issym():
        member = source.getmember(os.path.normpath(os.path.join(os.path.dirname(member.name), member.linkname)))
    content = source.extractfile(member)
    if content is None:
        raise ArchiveError(f"the engine saved an image whose layer {name} is not a file")
    hashed = _Hashed(content)
    info = tarfile.TarInfo(_blob_name(digest))
    info.size, info.mode = member.size, 0o644
    target.addfile(info, hashed)
    if f"sha256:{hashed.digest.hexdigest()}" != digest:
        raise ArchiveError(f"the engine saved an image whose layer {name} does not have the digest {digest}")
    return member.size


class _Hashed(io.RawIOBase):
    """A file that computes the SHA-256 digest of the bytes read from it."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece: bytes = self._file.read(size)
        self.digest.update(piece)
        return piece


def _read(source: tarfile.TarFile, name: str) -> bytes:
    content = source.extractfile(name)
    if content is None:
        raise ArchiveError(f"the engine saved an image without {name}")
    return content.read()


def _blob(target: tarfile.TarFile, kind: str, content: bytes) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    _add(target, _blob_name(digest), content)
    return _describe(kind, digest, len(content))


def _blob_name(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


def _describe(kind: str, digest: str, size: int) -> dict[str, Any]:
    return {"mediaType": kind, "digest": digest, "size": size}


def _add(target: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o644
    target.addfile(info, io.BytesIO(content))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
