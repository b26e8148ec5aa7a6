"""Says of modes that were asked for and that no chosen environment lists what can be done about each."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from bench.registry import Registry

from .environment import Environment
from .families import missing_mode
from .rules import place_of, version_problems

#: Environments that a remedy names.
MOST_NAMED = 3


def remarks(patterns: Sequence[str], environments: Sequence[Environment], registry: Registry) -> tuple[str, ...]:
    """Name the modes, what the environments list instead, and a remedy for each; nothing where none is missing."""
    listed = {mode for environment in environments for mode in environment.modes}
    missing = [pattern for pattern in patterns if not fnmatch.filter(listed, pattern)]
    if not missing:
        return ()
    have = "; ".join(f"{one.name} lists {', '.join(one.modes)}" for one in environments)
    remedies = [_remedy(one, mode, registry) for mode in missing for one in environments]
    said = " ".join(dict.fromkeys(filter(None, remedies)))
    return (f"--mode: no chosen environment lists {', '.join(map(repr, missing))}: {have}. {said}".rstrip(),)


def elsewhere(environments: Sequence[Environment], registry: Registry) -> dict[str, str]:
    """Return {mode: where to add it} of the modes that frameworks of a study have and no environment of it lists.

    Those that come first in ``environments`` are named first.
    """
    listed = {mode for environment in environments for mode in environment.modes}
    found: dict[str, list[str]] = {}
    for environment in environments:
        facts = registry.facts(environment.framework)
        for mode in facts.mode_names:
            if mode not in listed and _problem(environment, mode, registry) is None:
                found.setdefault(mode, []).append(environment.name)
    return {
        mode: f"no environment of the study lists {mode!r}; add it to modes of {' or '.join(dict.fromkeys(names))}."
        for mode, names in ((mode, names[:MOST_NAMED]) for mode, names in found.items())
    }


def _remedy(environment: Environment, mode: str, registry: Registry) -> str:
    """Say why an environment has no such mode, or where to add it; empty for a pattern."""
    facts = registry.facts(environment.framework)
    if any(character in mode for character in "*?["):
        return ""
    if mode not in facts.mode_names:
        return f"{facts.product} has no mode {mode!r}."
    problem = _problem(environment, mode, registry)
    if problem is not None:
        return f"{environment.name}: {problem}"
    return f"Add it to modes in [{place_of('environments', environment.name)}]."


def _problem(environment: Environment, mode: str, registry: Registry) -> str | None:
    """Say why the version of an environment's framework lacks a mode; None where it has it."""
    found = version_problems(registry.facts(environment.framework), mode, environment.requirements)
    return missing_mode(environment, mode, registry) or next(found, None)
