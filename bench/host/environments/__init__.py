"""Prepares environments of every kind; an environment that cannot be made is an outcome with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.record import OK
from bench.registry import BUILT_IN, Registry

from ..containers import started_flag
from ..containers.context import Extras
from ..machine import facts
from ..setup.tool import ToolFailed
from ..study.environment import Environment
from . import contents, driver, existing, locks, outcome, preloads, venv
from .outcome import Impossible, Prepared, load_outcome
from .source_builds import LockError

__all__ = ["Prepared", "altered", "load_outcome", "prepare", "without_engine"]


@dataclass(frozen=True)
class Preparation:
    """What preparing an environment takes besides its table; see ``prepare``."""

    root: Path
    announce: Callable[[str], None]
    extras: Extras | None = None
    registry: Registry = BUILT_IN
    thorough: bool = False


PROVIDERS: dict[str, Callable[[Environment, Preparation], Prepared]] = {
    "venv": lambda environment, how: venv.prepare(
        environment, root=how.root, announce=how.announce, thorough=how.thorough
    ),
    "existing": lambda environment, how: existing.prepare(environment, how.registry),
    "container": lambda environment, how: _container(environment, how),
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
    environment: Environment,
    *,
    root: Path,
    announce: Callable[[str], None],
    extras: Extras | None = None,
    registry: Registry = BUILT_IN,
    thorough: bool = False,
) -> Prepared:
    """Make the environment ready, store the outcome below ``root/.nox/environments`` and return it.

    A failure is an outcome, too, with its reason; nothing is raised. ``extras`` is what the installation in an image
    needs; pip's variables name it by default. ``registry`` has the environment's framework. ``thorough`` compares the
    hash of every installed file.
    """
    if started_flag.exists(root):
        from ..containers import leftovers

        leftovers.sweep_if_started(root, announce)
    if (owner := environment.lock_owner) in locks.OWN:
        reason = f"{owner!r} is the name of an environment of benchmatrix itself; choose another"
        prepared = outcome.failed(environment.name, reason)
    else:
        how = Preparation(root, announce, extras, registry, thorough)
        prepared = attempt(environment, how)
    # The run reports a missing engine once, for all containers.
    if prepared.reason is not None and not without_engine([prepared]):
        announce(f"{prepared.name}: {prepared.status}: {prepared.reason}")
    outcome.save(prepared, root)
    return prepared


def altered(prepared: Mapping[str, Prepared], root: Path) -> dict[str, str]:
    """Return {environment: files} of the venvs that changed since they were prepared."""
    found = {}
    for name, one in prepared.items():
        if one.status == OK and one.manifest.get("provider") == "venv":
            try:
                changed = venv.changed_files(outcome.folder_of(root) / one.manifest["environment"], one.manifest)
            except (OSError, ValueError, KeyError) as error:
                changed = [str(error)]
            if changed:
                found[name] = contents.shown(changed)
    return found


def without_engine(prepared: Iterable[Prepared]) -> str | None:
    """Return the reason why nothing can be measured: every environment is a container, and no engine answers."""
    outcomes = list(prepared)
    alone = [each.manifest.get("provider") == "container" and each.manifest.get("engine") is None for each in outcomes]
    return outcomes[0].reason if outcomes and all(alone) else None


def attempt(environment: Environment, how: Preparation) -> Prepared:
    """Make the environment ready and return the outcome, without storing it."""
    name = environment.name
    try:
        if environment.driver is not None:
            driver.check(environment.driver, facts.gpus())
        return preloads.added(PROVIDERS[environment.provider](environment, how), environment.preload, how.root)
    except Impossible as error:
        return outcome.unsupported(name, str(error))
    except (LockError, preloads.NotMade) as error:
        return outcome.failed(name, str(error))
    except ToolFailed as error:
        return _judge(name, error)
    except OSError as error:
        return outcome.failed(name, f"the environment cannot be written: {error}")


def _container(environment: Environment, how: Preparation) -> Prepared:
    # Imported only now: the engine's SDK takes half a second, and most runs use no engine.
    from ..containers.image import BuildFailed
    from . import container

    try:
        return container.prepare(environment, root=how.root, announce=how.announce, extras=how.extras)
    except BuildFailed as error:
        return outcome.failed(environment.name, str(error))


def _judge(name: str, error: ToolFailed) -> Prepared:
    """Tell a platform without these packages from an installation that failed."""
    if UNREACHABLE.search(error.tail):
        return outcome.failed(name, f"the package index could not be reached: {error}")
    if NO_WHEEL.search(error.tail):
        return outcome.unsupported(name, f"its packages are not published for this platform: {error}")
    return outcome.failed(name, f"it could not be installed: {error}")
