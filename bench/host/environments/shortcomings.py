"""Finds out, before anything is built or measured, which environments this machine cannot have, and why."""

from __future__ import annotations

from pathlib import Path

from bench.registry import BUILT_IN, Registry

from ..machine import facts
from ..study.environment import Environment
from . import driver, existing, forecast, interpreters
from .outcome import Impossible


def shortcoming(environment: Environment, root: Path, registry: Registry = BUILT_IN) -> str | None:
    """Return the reason for which a run would find the environment unsupported; None where none is known yet.

    It is about the driver and the interpreters that are named. What is built or pulled is only known afterwards.
    """
    try:
        if environment.driver is not None:
            driver.check(environment.driver, facts.gpus())
        if environment.provider == "existing":
            existing.prepare(environment, registry)
        elif environment.provider == "venv" and environment.interpreter and not forecast.is_built(environment, root):
            wanted = environment.python or ""
            interpreters.find(wanted, uv=None, root=root, announce=_silently, path=environment.interpreter)
    except (Impossible, interpreters.NoInterpreter) as error:
        return str(error)
    return None


def _silently(_text: str) -> None:
    pass
