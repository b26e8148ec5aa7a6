"""Defines the types of the values in a study file, each with the message for a wrong value."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema

from bench.cell import DEVICES, PRECISIONS
from bench.registry import BUILT_IN, Registry

from . import sources
from .family_names import VERSION_PATTERN
from .session_names import NAME_PATTERN, NAME_REMEDY
from .suggestion import unknown
from .toml_limits import MOST_THREADS
from .version_ranges import RANGE_PATTERN

PYTHON_PATTERN = r"^3\.[0-9]+(\.[0-9]+)?$"
# Debian's policy; other characters must not reach a shell.
PACKAGE_PATTERN = r"^[a-z0-9][a-z0-9+.-]+$"
DRIVER_PATTERN = r"^[0-9]+([.][0-9]+)*$"
VARIABLE_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"
# A process cannot be given a NUL.
TEXT_PATTERN = r"^[^\x00]*$"
FILLED_PATTERN = r"^[^\x00]+$"


def _one_of(kind: str, known: Iterable[str]) -> Callable[[str], str]:
    names = tuple(known)

    def check(value: str) -> str:
        if value not in names:
            raise ValueError(unknown(kind, value, names))
        return value

    return check


@dataclass(frozen=True)
class Known:
    """The names that a study file may use; they are looked for on the disk once, not for every value."""

    registry: Registry

    @cached_property
    def frameworks(self) -> tuple[str, ...]:
        return self.registry.frameworks

    @cached_property
    def modes(self) -> tuple[str, ...]:
        return self.registry.mode_names


def _known_of(info: ValidationInfo) -> Known:
    """Return the names that a study file is read with: the context of its validation, our own where it has none."""
    return info.context if isinstance(info.context, Known) else Known(BUILT_IN)


def _framework(value: str, info: ValidationInfo) -> str:
    known = _known_of(info)
    if value not in known.frameworks:
        misnamed = sources.misnamed(known.registry, "frameworks").get(value)
        raise ValueError(misnamed or unknown("framework", value, known.frameworks))
    return value


def _mode(value: str, info: ValidationInfo) -> str:
    known = _known_of(info)
    if value not in known.modes:
        # Of an environment, whose framework is read before; a claim's column may be of any framework.
        framework = (info.data or {}).get("framework")
        own = known.registry.facts(framework).mode_names if framework in known.frameworks else known.modes
        raise ValueError(unknown("mode", value, own))
    return value


def _matching(pattern: str, remedy: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if re.fullmatch(pattern.removesuffix("$"), value) is None:
            raise ValueError(f"{value[:200]!r}: {remedy}.")
        return value

    return check


def _expanded(value: str) -> str:
    return os.path.expandvars(os.path.expanduser(value))


def _path(value: Any) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError(f"{value!r}: give a path, in quotes.")
    return Path(_expanded(value))


def wheel_source(value: str) -> str:
    """Check the address of an index, or the path of a folder with wheels, with ~ and $VARIABLES; empty stands for none.

    Raises ValueError.
    """
    if not value:
        return value
    address = _expanded(value)
    scheme, separator, rest = address.partition("://")
    local = rest.partition("/")[0].partition(":")[0] in ("localhost", "127.0.0.1")
    if not address.strip() or not address.isprintable() or (separator and not rest):
        raise ValueError(f"{value[:200]!r}: give the address of an index, or a folder with wheels.")
    if separator and not (scheme == "https" or (scheme == "http" and local)):
        # Locks take their hashes from it.
        raise ValueError(f"{scheme[:20]}://… can be changed on its way; give an https:// address, or a folder.")
    return address


def _thread_count(value: Any) -> Any:
    if value == "all":
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{value!r}: give a whole number of at least 1, or 'all' for every physical core available.")
    if value > MOST_THREADS:
        raise ValueError(f"{value:,} threads are more than any machine has; give at most {MOST_THREADS:,}, or 'all'.")
    return value


def _thread_counts(value: Any) -> Any:
    """Take one number of threads, or an array of them."""
    if not isinstance(value, list | tuple):
        return _thread_count(value)
    if not value:
        raise ValueError('[]: give at least one number of threads, for example [1, "all"].')
    return tuple(map(_thread_count, value))


def _versions(value: Any) -> Any:
    """Refuse a text, which is no range: the releases of a range stand in its place when a study is read."""
    if isinstance(value, str):
        raise ValueError(
            f'{value[:200]!r} is no range, such as ">=2.0,<3"; write a version in brackets: ["{value[:200]}"].'
        )
    return value


def _enumeration(names: Iterable[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(names)})


def _pattern(pattern: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern})


Name = Annotated[str, AfterValidator(_matching(NAME_PATTERN, NAME_REMEDY)), _pattern(NAME_PATTERN)]
PythonVersion = Annotated[
    str,
    AfterValidator(_matching(PYTHON_PATTERN, 'give a version of Python 3 such as "3.11"')),
    _pattern(PYTHON_PATTERN),
]
ReleaseVersion = Annotated[
    str,
    AfterValidator(
        _matching(VERSION_PATTERN, 'give a version such as "2.5.1"; a range stands alone, without brackets')
    ),
    _pattern(VERSION_PATTERN),
]
Versions = Annotated[
    tuple[ReleaseVersion, ...],
    BeforeValidator(_versions),
    Field(strict=False, min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": RANGE_PATTERN},
                {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": VERSION_PATTERN}},
            ]
        }
    ),
]
VariableName = Annotated[
    str,
    AfterValidator(_matching(VARIABLE_PATTERN, "use letters, digits and '_', not beginning with a digit")),
    _pattern(VARIABLE_PATTERN),
]
DriverVersion = Annotated[
    str, AfterValidator(_matching(DRIVER_PATTERN, 'give a version such as "580.65.06"')), _pattern(DRIVER_PATTERN)
]
Text = Annotated[str, AfterValidator(_matching(TEXT_PATTERN, "remove the NUL character")), _pattern(TEXT_PATTERN)]
Filled = Annotated[
    str,
    AfterValidator(_matching(FILLED_PATTERN, "must hold something, and no NUL character")),
    _pattern(FILLED_PATTERN),
]
ExpandedText = Annotated[Filled, AfterValidator(_expanded)]
ExpandedPath = Annotated[
    Path,
    BeforeValidator(_path),
    WithJsonSchema({"type": "string"}),
]
WheelSource = Annotated[str, AfterValidator(wheel_source)]
SystemPackage = Annotated[
    str,
    AfterValidator(_matching(PACKAGE_PATTERN, "use lower-case letters, digits, '.', '+' and '-'")),
    _pattern(PACKAGE_PATTERN),
]
# Their names depend on the registry; json_schema adds them.
Framework = Annotated[str, AfterValidator(_framework)]
Mode = Annotated[str, AfterValidator(_mode)]
Precision = Annotated[str, AfterValidator(_one_of("precision", PRECISIONS)), _enumeration(PRECISIONS)]
Device = Annotated[str, AfterValidator(_one_of("device", DEVICES)), _enumeration(DEVICES)]
_THREADS: dict[str, Any] = {"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 1, "maximum": MOST_THREADS}]}
Threads = Annotated[
    Literal["all"] | int | tuple[Literal["all"] | int, ...],
    BeforeValidator(_thread_counts),
    WithJsonSchema({"anyOf": [*_THREADS["anyOf"], {"type": "array", "minItems": 1, "items": _THREADS}]}),
]
# TOML has arrays only, hence strict=False where the value is a tuple.
LIST = Field(strict=False)
FILLED_LIST = Field(strict=False, min_length=1)
