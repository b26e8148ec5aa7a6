"""Says in a line what the session of each environment measures, from tables that were not checked yet.

nox imports it for ``nox -l``, so it needs the standard library alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..refusal import harmless

#: Characters of one list of a table that a summary shows.
LONGEST_LIST = 80


def summaries(tables: object, families: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return {environment or table: what its session measures}, given the environments of each table."""
    return dict(_summaries(tables if isinstance(tables, Mapping) else {}, families))


def _summaries(tables: Mapping[Any, Any], families: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for name, members in families.items():
        given = tables.get(name)
        table: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        if list(members) == [name]:
            yield name, _sentence(_contents(name, table), table)
            continue
        framework = _framework(name, table)
        versions = [member.removeprefix(f"{name}-") for member in members]
        for member, version in zip(members, versions, strict=True):
            yield member, _sentence(f"{framework} {version}", table)
        yield name, _sentence(f"{framework} {_listed(versions)}", table)


def _sentence(contents: str, table: Mapping[str, Any]) -> str:
    modes = _listed(_texts(table, "modes"))
    return harmless(f"Measure {contents}{f': {modes}' if modes else ''}.".replace("\n", " "))


def _contents(name: str, table: Mapping[str, Any]) -> str:
    """Say what an environment has: the packages that it lists, or its framework and where that comes from."""
    if packages := _texts(table, "requirements"):
        return _listed(packages)
    contained = table.get("provider") == "container"
    if isinstance(lock := table.get("lock"), str):
        return f"the packages of {lock} {'in a container' if contained else 'with other settings'}"
    framework = _framework(name, table)
    if isinstance(interpreter := table.get("interpreter"), str):
        return f"{framework} in {interpreter}"
    return f"{framework} in a container" if contained else framework


def _framework(name: str, table: Mapping[str, Any]) -> str:
    framework = table.get("framework")
    return framework if isinstance(framework, str) else name


def _texts(table: Mapping[str, Any], key: str) -> list[str]:
    values = table.get(key)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _listed(names: Sequence[str]) -> str:
    """Join names, as many as there is room for."""
    text = ", ".join(names)
    return text if len(text) <= LONGEST_LIST else text[:LONGEST_LIST].rpartition(",")[0] + ", …"
