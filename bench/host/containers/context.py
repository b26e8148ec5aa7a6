"""Knows what an engine is sent to build an image: the Dockerfile, the lock, and what this machine's network needs."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

#: Where people name the certificates that pip shall believe; the first that is there counts.
CERTIFICATES = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
#: What a person set for pip holds for images too.
INDEX = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
HASH = re.compile(rb"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Extras:
    """What an installation needs on this machine; none of it stays in the image."""

    certificates: Path | None = None
    wheels: tuple[Path, ...] = ()

    @classmethod
    def of(
        cls, environ: Mapping[str, str] = os.environ, *, wheels: Path | None = None, ca: Path | None = None
    ) -> Extras:
        """Take what is named, or else what pip's variables name."""
        folders = [wheels] if wheels else [Path(part) for part in environ.get("PIP_FIND_LINKS", "").split()]
        found = (Path(environ[name]) for name in CERTIFICATES if environ.get(name))
        certificates = ca or next((path for path in found if path.is_file()), None)
        return cls(certificates, tuple(folder for folder in folders if folder.is_dir()))


def build_arguments(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the settings of index and proxy that an installation in an image needs as well."""
    return {name: environ[name] for name in (*INDEX, *PROXIES) if environ.get(name)}


def write_context(file: IO[bytes], *, dockerfile: str, lock: bytes, extras: Extras) -> None:
    """Write a build context as a tar archive. Raises OSError for what cannot be read."""
    with tarfile.open(fileobj=file, mode="w") as archive:
        _add(archive, "Dockerfile", dockerfile.encode())
        _add(archive, "lock.txt", lock)
        _add(archive, "extras/ca.crt", extras.certificates.read_bytes() if extras.certificates else b"")
        for wheel in _locked_wheels(extras.wheels, lock):
            with wheel.open("rb") as content:
                described = _described(f"extras/wheels/{wheel.name}", wheel.stat().st_size)
                archive.addfile(described, content)


def _locked_wheels(folders: tuple[Path, ...], lock: bytes) -> Iterator[Path]:
    """List the wheels that the lock asks for by their hash; a folder may hold many others."""
    wanted = {found.decode() for found in HASH.findall(lock)}
    names = {line.split(b"==")[0].decode().lower() for line in lock.splitlines() if re.match(rb"[A-Za-z0-9]", line)}
    for folder in folders:
        for wheel in sorted(folder.glob("*.whl")):
            name = re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower()
            if name in names and _digest(wheel) in wanted:
                yield wheel


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    archive.addfile(_described(name, len(content)), io.BytesIO(content))


def _described(name: str, size: int) -> tarfile.TarInfo:
    """Describe a file so that the same content is the same to a builder's cache: no owner, no time."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o644
    return info
