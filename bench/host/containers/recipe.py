"""Knows what an image is made from, and names it after the hash of all of that."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from .labels import REPOSITORY

#: Part of every hash: raise it when images are built differently from the same files.
LAYOUT = 1
BASE = re.compile(r"^ARG BASE=(\S+)$", re.MULTILINE)
#: What makes a tag from a name and a hash: sixteen digits are enough to tell and short enough to read.
DIGITS = 16


@dataclass(frozen=True)
class Recipe:
    """Everything that goes into one image."""

    environment: str
    dockerfile: str
    #: The base as it is named, and the digest of what that is here.
    base: str
    base_digest: str
    python: str
    lock: bytes
    system_packages: tuple[str, ...] = ()
    #: What the engine builds for.
    platform: str = "linux/amd64"
    hashed: str = field(init=False)

    def __post_init__(self) -> None:
        stated = {
            "layout": LAYOUT,
            "dockerfile": self.dockerfile,
            "base": self.base_digest,
            "python": self.python,
            "lock": hashlib.sha256(self.lock).hexdigest(),
            "system_packages": sorted(self.system_packages),
            "platform": self.platform,
        }
        object.__setattr__(self, "hashed", hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest())

    @property
    def tag(self) -> str:
        """Name the image; the name of an environment has only characters that a tag may have."""
        return f"{REPOSITORY}:{self.environment}-{self.hashed[:DIGITS]}"


def dockerfile_path(kind: str, root: Path) -> Path:
    return root / "docker" / f"{kind}.Dockerfile"


def default_base(dockerfile: str) -> str:
    """Return the base image that a Dockerfile names, pinned by its digest."""
    found = BASE.search(dockerfile)
    if found is None:
        raise ValueError("the Dockerfile has no line 'ARG BASE=image@sha256:…'")
    return found[1]
