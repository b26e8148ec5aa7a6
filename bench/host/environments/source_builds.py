"""Keeps code of packages from running while they are locked or installed, unless the study allows it.

A wheel is unpacked; nothing in it runs. Everything else is built, which runs its code as the user: a source
distribution, a folder, a repository. Where an environment has ``allow_source = true``, packages are built with build
requirements that have a lock of their own, and with no others.
"""

from __future__ import annotations

from collections.abc import Sequence

from packaging.requirements import InvalidRequirement, Requirement

from ..refusal import Refused
from ..study.environment import Environment

#: What most source distributions are built with.
USUAL = ("setuptools", "wheel")

REMEDY = "Require it by version, or set allow_source = true in the environment's table, which lets its code run"


class LockError(Refused):
    """A lock is missing, does not fit, or cannot be made; the message has the remedy."""


def build_requirements(environment: Environment) -> tuple[str, ...]:
    """Return what packages of the environment are built with; empty where only wheels are allowed."""
    return (environment.build_requirements or USUAL) if environment.allow_source else ()


def build_lock(name: str) -> str:
    """Return the name of the lock of the build requirements of an environment."""
    return f"{name}.build"


def check(name: str, requirements: Sequence[str], *, allowed: bool) -> None:
    """Raise LockError for a requirement that is not a name and versions: an option, a path or an address.

    ``allowed`` permits the address of an archive.
    """
    for text in requirements:
        try:
            address = Requirement(text).url
        except InvalidRequirement:
            raise LockError(
                f"locks/{name}.txt cannot be made: {text!r} is not a name with versions. "
                "Write for example 'torch==2.15.0'"
            ) from None
        if address is not None and not allowed:
            raise LockError(f"locks/{name}.txt cannot be made: {text!r} is an address. {REMEDY}")
        if address is not None and address.partition("+")[0] in ("git", "hg", "svn", "bzr"):
            raise LockError(
                f"locks/{name}.txt cannot be made: {text!r} is a repository, which has no hash. "
                "Give the address of an archive of it"
            )
