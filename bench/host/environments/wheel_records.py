"""Compares the files of an environment with the hashes that their wheels state (PEP 376, PEP 627).

An installer unpacks a wheel once and keeps the files in a cache. The lock's hash is that of the wheel, so it does not
cover what happened to the cache afterwards; the file RECORD in every wheel does.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

#: The installer's own signatures and lists, and bytecode, which is compiled again.
WITHOUT_HASH = ("/RECORD", ".jws", ".p7s", ".pyc")

#: The folder of a virtual environment into which packages are installed.
SITE = "site-packages"
#: Files that making an empty environment puts beside the packages.
OF_EMPTY = frozenset(["_virtualenv.pth", "_virtualenv.py"])


@dataclass(frozen=True)
class Difference:
    """A file that is not what its package's wheel states.

    A file that no wheel states belongs to the package in whose folder it is; ``package`` is None in every other place.
    """

    package: str | None
    file: str


def differences(folder: Path, hashes: Mapping[str, str]) -> list[Difference]:
    """List the files among the packages that are missing, differ from the wheel, or belong to none.

    ``hashes`` is {path below ``folder``: SHA-256}.
    """
    owners: dict[str, list[tuple[str, str]]] = {}
    records = [name for name in hashes if _is_record(name)]
    sites = {os.path.dirname(os.path.dirname(name)) for name in records}
    for name in records:
        for file, stated in _entries(folder, name):
            owners.setdefault(file, []).append((_package(name), stated))
    folders = {os.path.dirname(file): claims[0][0] for file, claims in owners.items()}
    found = []
    for file, claims in owners.items():
        # Two packages may bring the same file; then it is what the one that was installed last brought.
        if not any(_fits(folder, file, stated, hashes) for _package, stated in claims):
            found.append(Difference(claims[0][0], file))
    found += [
        Difference(folders.get(os.path.dirname(name)), name)
        for name in hashes
        if name not in owners
        and any(name.startswith(f"{site}/") for site in sites)
        and not name.endswith(".pyc")
        and os.path.basename(name) not in OF_EMPTY
    ]
    return sorted(found, key=lambda each: each.file)


def is_metadata(difference: Difference) -> bool:
    """Tell whether a file describes a package and holds no code.

    PyTorch 1.12.1 was published with a METADATA that was edited after its RECORD had been written.
    """
    return difference.package is not None and difference.file.endswith(".dist-info/METADATA")


def _is_record(name: str) -> bool:
    """Tell the list of an installed package from one that a package brings with what it has vendored.

    The latter names files that were not copied along (setuptools has ``_vendor/wheel-0.46.3.dist-info/RECORD``); it is
    a file like any other, which the list of the package around it states.
    """
    site = os.path.dirname(os.path.dirname(name))
    return name.endswith(".dist-info/RECORD") and os.path.basename(site) == SITE


def _entries(folder: Path, record: str) -> Iterator[tuple[str, str]]:
    """Yield path below ``folder`` and stated hash of every file that a RECORD lists."""
    site = os.path.dirname(os.path.dirname(record))
    with open(folder / record, newline="", encoding="utf-8") as file:
        for row in csv.reader(file):
            if row:
                yield os.path.normpath(f"{site}/{row[0]}"), row[1] if len(row) > 1 else ""


def _fits(folder: Path, file: str, stated: str, hashes: Mapping[str, str]) -> bool:
    if file.endswith(".pyc"):
        return True
    if file not in hashes:
        return False
    if not stated:
        return file.endswith(WITHOUT_HASH)
    # The wheels of MLX 0.30 state hashes without the algorithm.
    algorithm, digest = stated.split("=", 1) if "=" in stated else ("sha256", stated)
    if algorithm == "sha256":
        return _decoded(digest) == hashes[file]
    if algorithm not in ("sha384", "sha512"):
        return False
    with open(folder / file, "rb", buffering=0) as content:
        return _decoded(digest) == hashlib.file_digest(content, algorithm).hexdigest()


def _decoded(digest: str) -> str | None:
    try:
        return base64.urlsafe_b64decode(digest + "=" * (-len(digest) % 4)).hex()
    except ValueError:
        return None


def _package(record: str) -> str:
    """Return the name of the package whose RECORD this is: ``numpy`` of ``…/numpy-1.26.4.dist-info/RECORD``."""
    return os.path.basename(os.path.dirname(record)).partition("-")[0]
