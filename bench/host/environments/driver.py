"""Checks whether this machine's GPU driver is new enough for an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from packaging.version import Version

from .outcome import Impossible


def check(wanted: str, gpus: Sequence[Mapping[str, Any]]) -> None:
    """Raise Impossible where there is no GPU, or one with a driver older than ``wanted``."""
    if not gpus:
        raise Impossible(f"it needs an NVIDIA GPU with driver {wanted} or newer; this machine has none")
    there = str(gpus[0]["driver"])
    if Version(there) < Version(wanted):
        raise Impossible(f"it needs NVIDIA driver {wanted} or newer; this machine has {there}")
