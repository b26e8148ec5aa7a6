"""Prepares environments of every kind; an environment that cannot be made is an outcome with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import cast

from bench.registry import BUILT_IN, Registry

from ..containers import started_flag
from ..containers.context import Extras
from ..machine import facts
from ..setup.tool import ToolFailed
from . import driver, existing, locks, outcome, venv
from .locks import Buildable
from .outcome import Impossible, Prepared, load_outcome

__all__ = ["Prepared", "load_outcome", "prepare", "without_engine"]

PROVIDERS: dict[str, Callable[[Buildable, Path, Callable[[str], None], Extras | None, Registry], Prepared]] = {
    "venv": lambda environment, root, announce, *_: venv.prepare(environment, root=root, announce=announce),
    "existing": lambda environment, root, announce, extras, registry: existing.prepare(environment, registry),
    "container": lambda environment, root, announce, extras, _: _container(environment, root, announce, extras),
}

# This is tried first: where an index cannot be reached, installers also say that they found no package.
UNREACHABLE = re.compile(
    r"error sending request|failed to fetch|dns error|connection (?:refused|reset)|network is unreachable|timed out"
    r"|name resolution|new ?connectionerror|max retries exceeded|tunnel connection failed",
    re.IGNORECASE,
)
NO_WHEEL = re.compile(
    r"no wheels with a matching|(?:wheel|source distribution) for the current platform|only has wheels for"
    r"|not a supported wheel|no matching distribution found|is not compatible with|requires a different python",
    re.IGNORECASE,
)


def prepare(
    environment: Buildable,
    *,
    root: Path,
    announce: Callable[[str], None],
    extras: Extras | None = None,
    registry: Registry = BUILT_IN,
) -> Prepared:
    """Make the environment ready, store the outcome below ``root/.nox/environments`` and return it.

    A failure is an outcome, too, with its reason; nothing is raised. ``extras`` is what the installation in an image
    needs; pip's variables name it by default. ``registry`` has the environment's framework.
    """
    if started_flag.exists(root):
        from ..containers import leftovers

        leftovers.sweep_if_started(root, announce)
    if environment.name in locks.OWN:
        reason = f"{environment.name!r} is the name of an environment of benchmatrix itself; choose another"
        prepared = outcome.failed(environment.name, reason)
    else:
        prepared = attempt(environment, root=root, announce=announce, extras=extras, registry=registry)
    # The run reports a missing engine once, for all containers.
    if prepared.reason is not None and not without_engine([prepared]):
        announce(f"{prepared.name}: {prepared.status}: {prepared.reason}")
    outcome.save(prepared, root)
    return prepared


def without_engine(prepared: Iterable[Prepared]) -> str | None:
    """Return the reason why nothing can be measured: every environment is a container, and no engine answers."""
    outcomes = list(prepared)
    alone = [each.manifest.get("provider") == "container" and each.manifest.get("engine") is None for each in outcomes]
    return outcomes[0].reason if outcomes and all(alone) else None


def attempt(
    environment: Buildable,
    *,
    root: Path,
    announce: Callable[[str], None],
    extras: Extras | None = None,
    registry: Registry = BUILT_IN,
) -> Prepared:
    """Make the environment ready and return the outcome, without storing it."""
    name = environment.name
    if environment.provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        return outcome.unsupported(name, f"the provider {environment.provider!r} is not known here; there are: {known}")
    try:
        if environment.driver is not None:
            driver.check(environment.driver, facts.gpus())
        return PROVIDERS[environment.provider](environment, root, announce, extras, registry)
    except Impossible as error:
        return outcome.unsupported(name, str(error))
    except locks.LockError as error:
        return outcome.failed(name, str(error))
    except ToolFailed as error:
        return _judge(name, error)
    except OSError as error:
        return outcome.failed(name, f"the environment cannot be written: {error}")


def _container(environment: Buildable, root: Path, announce: Callable[[str], None], extras: Extras | None) -> Prepared:
    # Imported only now: the engine's SDK takes half a second, and most runs use no engine.
    from ..containers.image import BuildFailed
    from . import container

    try:
        wanted = cast(container.Containable, environment)
        return container.prepare(wanted, root=root, announce=announce, extras=extras)
    except BuildFailed as error:
        return outcome.failed(environment.name, str(error))


def _judge(name: str, error: ToolFailed) -> Prepared:
    """Tell a platform without these packages from an installation that failed."""
    if UNREACHABLE.search(error.tail):
        return outcome.failed(name, f"the package index could not be reached: {error}")
    if NO_WHEEL.search(error.tail):
        return outcome.unsupported(name, f"its packages are not published for this platform: {error}")
    return outcome.failed(name, f"it could not be installed: {error}")
