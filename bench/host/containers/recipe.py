"""Lists everything an image is made from, and names the image after the hash of it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from .. import project
from .labels import REPOSITORY

#: Part of every hash. Raise it when the same files give other images.
LAYOUT = 1
BASE = re.compile(r"^ARG BASE=(\S+)$", re.MULTILINE)
#: Hexadecimal digits of the hash in a tag.
DIGITS = 16


@dataclass(frozen=True)
class Recipe:
    """Everything that goes into one image."""

    environment: str
    dockerfile: str
    #: The name of the base image, and the digest of the image with that name on this engine.
    base: str
    base_digest: str
    python: str
    lock: bytes
    system_packages: tuple[str, ...]
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
        """The image's tag; an environment's name has only characters that are allowed in tags."""
        return f"{REPOSITORY}:{self.environment}-{self.hashed[:DIGITS]}"


def dockerfile_path(kind: str) -> Path:
    return project.data(f"docker/{kind}.Dockerfile")


def default_base(dockerfile: str) -> str:
    """Return the base image that a Dockerfile names, pinned by its digest. Raises ValueError."""
    found = BASE.search(dockerfile)
    if found is None:
        raise ValueError("the Dockerfile has no line 'ARG BASE=image@sha256:…'")
    return found[1]
