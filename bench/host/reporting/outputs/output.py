"""Writes one output of a report, so that each of its files is at any moment the old one or the whole new one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ..words.caption import describe_conditions
from ..words.language import _

if TYPE_CHECKING:
    from ..report import Report
    from ..tables.speedup_values import SpeedUps


@dataclass(frozen=True)
class Output:
    """Something that a report can be written as."""

    #: The file that it writes; without an ending where it writes one in several forms.
    name: str
    #: Writes into an empty folder and returns the paths of what it wrote.
    write: Callable[[Report, Path], Sequence[Path]]
    #: The file of its module.
    source: Path

    @classmethod
    def of(cls, module: ModuleType) -> Output:
        return cls(module.NAME, module.write, Path(str(module.__file__)))

    def write_whole(self, report: Report, folder: Path, reserved: Collection[str] = ()) -> list[Path]:
        """Write its files into ``folder`` and return them; nothing is replaced unless all of them were written.

        Raises ValueError for a file with a ``reserved`` name, or below a folder with one.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{self.name.replace('/', '-')}-", dir=folder) as made:
            staging = Path(made)
            written = [path.relative_to(staging) for path in self.write(report, staging)]
            for path in written:
                names = (path.parts[0], path.as_posix(), path.with_suffix("").as_posix())
                if ".." in path.parts or any(name in reserved for name in names):
                    raise ValueError(f"it returns {path}, which is not a file of its own; choose another name")
            for path in written:
                with (staging / path).open("rb") as file:
                    os.fsync(file.fileno())
            for path in written:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                os.replace(staging / path, folder / path)
        return [folder / path for path in written]


def write_paper_table(report: Report, path: Path, render: Callable[[SpeedUps, str], str]) -> list[Path]:
    """Write what ``render`` makes of the speed-ups and of how they were measured; a comment where there are none."""
    found = report.speed_ups
    if found is None:
        return write_text(path, f"% {_('There is no table: nothing was measured, or nothing of the baseline.')}\n")
    return write_text(path, render(found, describe_conditions(report.manifest, found.results)))


def write_text(path: Path, text: str) -> list[Path]:
    """Write a file in UTF-8 with its line ends as they are, and return its path as an output does."""
    # JSON can hold a lone surrogate; a file in UTF-8 cannot.
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    return [path]
