"""Writes the build context of an image: the Dockerfile, the lock, and what an installation needs on this machine."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from packaging.utils import canonicalize_name

from ..setup.installer import is_folder

#: Variables that name the certificates for pip; the first existing file is used.
CERTIFICATES = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
#: Settings of pip that also apply inside images.
FURTHER = "PIP_EXTRA_INDEX_URL"
INDEX = ("PIP_INDEX_URL", FURTHER, "PIP_NO_INDEX")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
HASH = re.compile(rb"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Extras:
    """Files that an installation needs on this machine; they do not stay in the image."""

    certificates: Path | None = None
    wheels: tuple[Path, ...] = ()
    #: A further index, for packages that the lock lists by their hashes.
    index: str | None = None

    def with_index(self, source: str | None) -> Extras:
        """Return these with a further index, or a folder of wheels."""
        if source is None:
            return self
        if is_folder(source):
            return replace(self, wheels=(*self.wheels, Path(source)))
        return replace(self, index=source)

    @classmethod
    def of(
        cls, environ: Mapping[str, str] = os.environ, *, wheels: Path | None = None, ca: Path | None = None
    ) -> Extras:
        """Use ``wheels`` and ``ca`` where given, otherwise the places that pip's variables name."""
        folders = [wheels] if wheels else [Path(part) for part in environ.get("PIP_FIND_LINKS", "").split()]
        found = (Path(environ[name]) for name in CERTIFICATES if environ.get(name))
        certificates = ca or next((path for path in found if path.is_file()), None)
        return cls(certificates, tuple(folder for folder in folders if folder.is_dir()))


def build_arguments(environ: Mapping[str, str] = os.environ, *, index: str | None = None) -> dict[str, str]:
    """Return the settings of index and proxy for an installation in an image; ``index`` is a further one."""
    found = {name: environ[name] for name in (*INDEX, *PROXIES) if environ.get(name)}
    if index is not None:
        found[FURTHER] = " ".join(filter(None, (found.get(FURTHER), index)))
    return found


def write_context(file: IO[bytes], *, dockerfile: str, lock: bytes, extras: Extras) -> None:
    """Write a build context as a tar archive. Raises OSError for a file that cannot be read."""
    with tarfile.open(fileobj=file, mode="w") as archive:
        _add(archive, "Dockerfile", dockerfile.encode())
        _add(archive, "lock.txt", lock)
        _add(archive, "extras/ca.crt", extras.certificates.read_bytes() if extras.certificates else b"")
        for wheel in _locked_wheels(extras.wheels, lock):
            with wheel.open("rb") as content:
                described = _described(f"extras/wheels/{wheel.name}", wheel.stat().st_size)
                archive.addfile(described, content)


def _locked_wheels(folders: tuple[Path, ...], lock: bytes) -> Iterator[Path]:
    """Yield the wheels whose hashes the lock lists; a folder may hold many others."""
    wanted = {found.decode() for found in HASH.findall(lock)}
    lines = (line.decode() for line in lock.splitlines() if re.match(rb"[A-Za-z0-9]", line))
    names = {canonicalize_name(line.split("==")[0]) for line in lines}
    for folder in folders:
        for wheel in sorted(folder.glob("*.whl")):
            if canonicalize_name(wheel.name.split("-")[0]) in names and _digest(wheel) in wanted:
                yield wheel


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    archive.addfile(_described(name, len(content)), io.BytesIO(content))


def _described(name: str, size: int) -> tarfile.TarInfo:
    """Describe a file without owner and time, so that equal content hits the builder's cache."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o644
    return info
