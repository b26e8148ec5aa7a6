"""Knows how ours are told from everybody else's on an engine: by labels that name this checkout."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

#: On a finished image: the checkout that built it.
IMAGE = "benchmatrix.image"
#: On whatever comes into being while an image is built; empty on the finished image.
PART = "benchmatrix.part"
#: On a container: the checkout whose cell, or whose question, it runs.
CONTAINER = "benchmatrix.container"
#: On a finished image, for people: whose environment it is.
ENVIRONMENT = "benchmatrix.environment"

REPOSITORY = "benchmatrix"


def checkout(root: Path) -> str:
    """Return what names this checkout: two on one machine, or of two people, never clean up after each other."""
    return hashlib.sha256(f"{os.getuid()}:{root.resolve()}".encode()).hexdigest()[:16]


def selector(label: str, root: Path) -> str:
    """Return the filter that finds what carries ``label`` of this checkout."""
    return f"{label}={checkout(root)}"
