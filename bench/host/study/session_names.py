"""Checks the names of sessions on the command line of nox, which itself only says "Sessions not found".

nox imports it for ``nox -l``, so it needs the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .suggestion import unknown

#: Names become names of sessions and folders; some file systems ignore case.
NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]{0,63}$"
NAME_REMEDY = "use at most 64 lower-case letters, digits, '.', '_' and '-', beginning with a letter or a digit"
#: The options of nox that name sessions.
OPTIONS = ("-s", "-e", "--session", "--sessions")
PREFIX = "bench-"
#: Endings of what lies beside an environment of another name: its lock, outcome, lists and folders under way.
TAKEN = r"\.(lock|outcome\.json|build|versions|(building|retired|partial)-[^.]*)$"


def is_valid(name: str) -> bool:
    """Tell whether an environment can have this name."""
    return re.fullmatch(NAME_PATTERN, name) is not None


def taken(name: str) -> str | None:
    """Say that the files of an environment of this name would be those of another one; None where they would not."""
    found = re.search(TAKEN, name)
    return f"files of the environment {name[: found.start()]!r} can have this name; choose another." if found else None


def asked(command: Sequence[str]) -> list[str]:
    """Return the sessions that a command line of nox names."""
    words = list(command[1 : command.index("--")] if "--" in command else command[1:])
    found: list[str] = []
    naming = False
    for word in words:
        option, separator, value = word.partition("=")
        if option in OPTIONS:
            naming = True
            found += [value] if separator else []
        elif word.startswith("-"):
            # "-sNAME" is short for "-s NAME".
            naming = word[:2] in OPTIONS and not word.startswith("--")
            found += [word[2:]] if naming else []
        elif naming:
            found.append(word)
    # A name with parentheses has parameters, which only nox can read.
    return [name for name in dict.fromkeys(found) if name and "(" not in name]


def problem(name: str, environments: Sequence[str], others: Sequence[str]) -> str | None:
    """Say that ``name`` is no session of an environment, and none of the ``others``; None where it is one."""
    environment = name.removeprefix(PREFIX)
    if name.startswith(PREFIX):
        return None if environment in environments else unknown("environment", environment, environments)
    if name in environments:
        return f"unknown session {name!r}; an environment is measured by {PREFIX + name!r}."
    # A session of several Pythons has a version behind its name.
    if name in others or name.rpartition("-")[0] in others:
        return None
    if "/" in name:
        return f"{name!r} is no session. What a session gets follows --, as in: nox -s report -- {name}"
    return unknown("session", name, [*(PREFIX + each for each in environments), *others])
