"""Holds the outcome of preparing an environment, and stores it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from bench.record import FAILED, OK, OUTSIDE, UNSUPPORTED

from ..project import STATE
from ..setup.staging import write_whole


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


class Impossible(Exception):
    """This machine cannot have the environment; the message is the reason in the table."""


def folder_of(root: Path) -> Path:
    return root / STATE / "environments"


def outcome_path(name: str, root: Path) -> Path:
    return folder_of(root) / f"{name}.outcome.json"


def ready(name: str, command: tuple[str, ...], manifest: dict[str, Any]) -> Prepared:
    return Prepared(name, OK, command=command, manifest=manifest)


def unsupported(name: str, reason: str) -> Prepared:
    return Prepared(name, UNSUPPORTED, stage=OUTSIDE, reason=reason)


def failed(name: str, reason: str) -> Prepared:
    return Prepared(name, FAILED, stage=OUTSIDE, reason=reason)


def save(prepared: Prepared, root: Path) -> None:
    """Store the outcome."""
    write_whole(outcome_path(prepared.name, root), json.dumps(asdict(prepared), indent=1) + "\n")


def load_outcome(name: str, *, root: Path) -> Prepared | None:
    """Return the outcome of the last preparation; None where no readable one is stored."""
    try:
        values = json.loads(outcome_path(name, root).read_bytes())
        # An earlier version stored more.
        known = {each.name: values[each.name] for each in fields(Prepared) if each.name in values}
        return Prepared(**{**known, "command": tuple(known["command"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
