"""Names the environments of a family: one for each of the ``versions`` that an environment's table lists.

nox imports it for ``nox -l``, so it needs the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .session_names import is_valid

#: A version becomes part of the name of a session, a folder and a lock.
VERSION_PATTERN = r"^[0-9]{1,9}(\.[0-9]{1,9}){0,4}((a|b|rc)[0-9]{1,9})?(\.post[0-9]{1,9})?$"
#: Versions of one family, and environments of a study.
MOST_VERSIONS, MOST_ENVIRONMENTS = 100, 1000

PARTS = re.compile(r"(?P<release>[0-9.]*[0-9])((?P<phase>a|b|rc)(?P<number>[0-9]+))?(\.post(?P<post>[0-9]+))?")


def order(version: str) -> tuple[tuple[int, ...], str, int, int]:
    """Return the key by which versions are sorted; equal keys are the same version: ``2.0`` and ``2.0.0``."""
    found = PARTS.fullmatch(version)
    assert found is not None
    release = [int(number) for number in found["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    # A release comes after its candidates.
    return tuple(release), found["phase"] or "z", int(found["number"] or 0), int(found["post"] or -1)


def member(family: str, version: str) -> str:
    """Name the environment of one version."""
    return f"{family}-{version}"


def sorted_versions(versions: Any) -> list[str]:
    """Return those of a table's ``versions`` that can be versions, each once, oldest first."""
    listed = versions if isinstance(versions, list | tuple) else ()
    valid = [one for one in listed if isinstance(one, str) and re.fullmatch(VERSION_PATTERN.removesuffix("$"), one)]
    return sorted({order(one): one for one in reversed(valid)}.values(), key=order)


def names(tables: Mapping[Any, Any]) -> dict[str, list[str]]:
    """Return {table: its environments} of the environment tables of a study file, which was not checked yet."""
    found: dict[str, list[str]] = {}
    for name, table in tables.items():
        versions = sorted_versions(table.get("versions")) if isinstance(table, dict) else []
        members = [member(name, version) for version in versions[:MOST_VERSIONS]] or [name]
        found[name] = [each for each in members if is_valid(each)]
        if sum(map(len, found.values())) > MOST_ENVIRONMENTS:
            break
    return found
