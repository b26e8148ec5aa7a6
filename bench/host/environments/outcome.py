"""Holds the outcome of preparing an environment, and stores it for the run that measures."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.record import FAILED, OK, UNSUPPORTED

from ..project import STATE
from ..setup.staging import write_whole
from . import cpu_builds, locks
from .buildable import Buildable

STAGE = "environment"

#: Keys of an environment's table that decide how it is made.
TABLE = (
    *("name", "framework", "provider", "python", "requirements", "interpreter", "variables", "driver"),
    *("lock", "dockerfile", "base", "system_packages", "allow_source", "build_requirements"),
)


@dataclass(frozen=True)
class Prepared:
    """An environment that is ready, or why it is not."""

    name: str
    #: ``ok``; ``unsupported`` where this machine cannot have it; ``failed`` where something went wrong.
    status: str
    stage: str | None = None
    reason: str | None = None
    #: The command that starts its Python.
    command: tuple[str, ...] = ()
    #: Its interpreter, packages with versions, the lock's hash, size and build time.
    manifest: dict[str, Any] = field(default_factory=dict)
    #: The hash of the table and the lock that it was prepared for.
    made_for: str = ""


class Impossible(Exception):
    """This machine cannot have the environment; the message is the reason in the table."""


def purpose(environment: Buildable, root: Path) -> str:
    """Hash what an environment is prepared from: its table and the content of its lock."""
    table = {name: getattr(environment, name, None) for name in TABLE}
    lock = locks.find_lock(cpu_builds.lock_name(environment), root)
    stated = json.dumps({**table, "variables": dict(environment.variables)}, sort_keys=True, default=list)
    content = lock.read_bytes() if lock.is_file() else b""
    return hashlib.sha256(stated.encode() + b"\0" + content).hexdigest()


def folder_of(root: Path) -> Path:
    return root / STATE / "environments"


def outcome_path(name: str, root: Path) -> Path:
    return folder_of(root) / f"{name}.outcome.json"


def ready(name: str, command: tuple[str, ...], manifest: dict[str, Any]) -> Prepared:
    return Prepared(name, OK, command=command, manifest=manifest)


def unsupported(name: str, reason: str) -> Prepared:
    return Prepared(name, UNSUPPORTED, stage=STAGE, reason=reason)


def failed(name: str, reason: str) -> Prepared:
    return Prepared(name, FAILED, stage=STAGE, reason=reason)


def save(prepared: Prepared, root: Path) -> None:
    """Store the outcome for the invocation that measures."""
    write_whole(outcome_path(prepared.name, root), json.dumps(asdict(prepared), indent=1) + "\n")


def load_outcome(name: str, *, root: Path) -> Prepared | None:
    """Return the outcome of the last preparation; None where no readable one is stored."""
    try:
        values = json.loads(outcome_path(name, root).read_bytes())
        return Prepared(**{**values, "command": tuple(values["command"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
