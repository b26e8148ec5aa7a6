"""Gives an environment that shares a venv's lock what the lock was made from, and checks that it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .schema import Study
from .suggestion import unknown

#: The keys that a lock is made from.
OF_LOCK = ("python", "requirements")
#: What a venv takes over besides: it uses the other one's installation.
OF_INSTALLATION = ("interpreter", "allow_source", "build_requirements")


def taken(provider: str) -> tuple[str, ...]:
    """Return the keys that an environment of a provider takes over with a lock."""
    return OF_LOCK if provider == "container" else OF_LOCK + OF_INSTALLATION


def filled(values: Mapping[str, Any], environments: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the values of an environment with what it takes over from the one whose lock it shares."""
    shared, provider = environments.get(values.get("lock") or ""), values.get("provider", "venv")
    if shared is None or provider == "existing":
        return values  # an interpreter that is there takes over nothing
    return {**values, **{key: shared[key] for key in taken(provider) if key in shared}}


def problems(values: Mapping[str, Any], environments: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Give what is wrong with the lock that an environment shares."""
    named = values.get("lock")
    if named is None or values.get("provider") == "existing":
        return
    venvs = [name for name, other in environments.items() if _has_lock(other)]
    shared = environments.get(named)
    if shared is None or named not in venvs:
        yield f"lock: {unknown('venv', named, venvs)}"
        return
    container = values.get("provider") == "container"
    for key in taken(values.get("provider", "venv")):
        if values.get(key):
            yield f"lock: {named!r} brings its {key}; remove {key}, or lock."
    if container and shared.get("allow_source"):
        yield f"lock: {named!r} has allow_source = true, and a container installs wheels only; remove lock."
    if "framework" in values and "framework" in shared and values["framework"] != shared["framework"]:
        yield f"lock: {named!r} has framework {shared['framework']!r}, this environment {values['framework']!r}."


def _has_lock(values: Mapping[str, Any]) -> bool:
    """Tell whether an environment is a venv with a lock of its own."""
    return values.get("provider", "venv") == "venv" and not values.get("lock")


def with_shared_locks(study: Study) -> Study:
    """Give every environment that shares a lock what it takes over."""
    environments = {
        name: environment
        if environment.lock is None
        else environment.model_copy(
            update={key: getattr(study.environments[environment.lock], key) for key in taken(environment.provider)}
        )
        for name, environment in study.environments.items()
    }
    return study.model_copy(update={"environments": environments})
