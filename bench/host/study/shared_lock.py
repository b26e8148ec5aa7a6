"""Gives a container that shares a venv's lock the venv's Python and requirements, and checks that it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .schema import Study
from .suggestion import unknown

#: The keys that a lock is made from.
TAKEN = ("python", "requirements")


def filled(values: Mapping[str, Any], environments: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the values of an environment with what it takes over from the one whose lock it shares."""
    shared = environments.get(values.get("lock") or "")
    return values if shared is None else {**values, **{key: shared[key] for key in TAKEN if key in shared}}


def problems(values: Mapping[str, Any], environments: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Give what is wrong with the lock that an environment shares."""
    named = values.get("lock")
    if named is None:
        return
    shared = environments.get(named)
    if shared is None or shared.get("provider", "venv") != "venv":
        venvs = [name for name, other in environments.items() if other.get("provider", "venv") == "venv"]
        yield f"lock: {unknown('venv', named, venvs)}"
        return
    for key in TAKEN:
        if values.get(key):
            yield f"lock: {named!r} brings its {key}; remove {key}, or lock."
    if shared.get("allow_source"):
        yield f"lock: {named!r} has allow_source = true, and a container installs wheels only; remove lock."
    if "framework" in values and "framework" in shared and values["framework"] != shared["framework"]:
        yield f"lock: {named!r} has framework {shared['framework']!r}, this environment {values['framework']!r}."


def with_shared_locks(study: Study) -> Study:
    """Give every container that shares a lock the Python and the requirements that the lock was made for."""
    environments = {
        name: environment
        if environment.lock is None
        else environment.model_copy(update={key: getattr(study.environments[environment.lock], key) for key in TAKEN})
        for name, environment in study.environments.items()
    }
    return study.model_copy(update={"environments": environments})
