"""Keeps which changes of a history a person accepted, and why: a gate does not fail because of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ..refusal import Refused, naming
from ..study.patterns import cell_fits
from .run_summary import CellSummary

#: The file, in the folder of the history, so that it is committed and shared with it.
NAME = "accepted.toml"
HEADER = """\
# Changes of speed that are accepted: series --fail-if does not fail because of them. A table holds for changes up to
# its run, of the cells that fit its patterns. Remove it, and they are judged again.
"""
#: What cells are chosen by.
PATTERNS = ("environment", "mode", "workload")
#: A reason in more characters is no reason, but a report.
LONGEST_REASON = 300


class Acceptance(BaseModel):
    """What a person accepted at one time."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    #: The newest run of the history at that time; a later change is not accepted.
    run: str
    reason: str
    #: Patterns of names; an empty list is for all.
    environment: list[str] = []
    mode: list[str] = []
    workload: list[str] = []

    def covers(self, cell: CellSummary, run: str) -> bool:
        """Tell whether it holds for a change of ``cell`` whose new level begins with ``run``."""
        # The names of runs begin with their time.
        return run <= self.run and cell_fits(cell, self, PATTERNS)


def read(folder: Path) -> tuple[Acceptance, ...]:
    """Read what is accepted in a history, the oldest first; raises Refused for a file that cannot be understood."""
    path = folder / NAME
    try:
        with naming(path, but=FileNotFoundError), path.open("rb") as file:
            tables = tomllib.load(file)
    except FileNotFoundError:
        return ()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: {error}. Correct it, or restore it from a copy, such as one in git.") from None
    try:
        return tuple(_Accepted.model_validate(tables).accepted)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise Refused(f"{path}: {place}: {first['msg']}. Correct it, or remove its table.") from None


class _Accepted(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    accepted: list[Acceptance] = []


def add(folder: Path, acceptance: Acceptance) -> Path:
    """Add to what is accepted; return the file."""
    path = folder / NAME
    fields = {name: value for name, value in acceptance.model_dump().items() if value}
    # JSON's strings are TOML's, as long as no character is a control character.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    with naming(path), path.open("a", encoding="utf-8") as file:
        file.write("\n".join(["" if file.tell() else HEADER, "[[accepted]]", *lines, ""]))
    return path
