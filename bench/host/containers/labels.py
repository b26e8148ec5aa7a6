"""Names the labels that mark the images and containers of this checkout on a shared engine."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

#: On a finished image: the checkout that built it.
IMAGE = "benchmatrix.image"
#: On intermediate images and containers of a build; empty on the finished image.
PART = "benchmatrix.part"
#: On a container: the checkout that started it.
CONTAINER = "benchmatrix.container"
#: On a finished image: the environment it was built for, for people to read.
ENVIRONMENT = "benchmatrix.environment"

REPOSITORY = "benchmatrix"


def checkout(root: Path) -> str:
    """Return an identifier of this checkout and user, so that one never removes what belongs to another."""
    return hashlib.sha256(f"{os.getuid()}:{root.resolve()}".encode()).hexdigest()[:16]


def selector(label: str, root: Path) -> str:
    """Return the engine's filter for ``label`` with this checkout."""
    return f"{label}={checkout(root)}"
