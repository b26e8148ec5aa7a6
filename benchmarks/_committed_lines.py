"""Defines a line of the committed runs and its column, their order, and which of several lines is the best."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple, TypeVar

from bench.cell import PRECISIONS
from bench.host.analysis.quality import Quality
from bench.host.analysis.results import EXCLUDED, NOT_RUN
from bench.host.reporting.words.row_names import threads_in_words
from bench.host.statistics.bootstrap import Estimate
from bench.registry import BUILT_IN
from benchmarks.public_tables import NAMES

#: Of a cell that was measured, but only while other programs computed: its time must not be used.
DISTURBED = Quality.DISTURBED.value
#: Of a cell that a run could not measure, while one of today could: it has an implementation since.
OUTDATED = "not measured"
#: Statuses that tell less of a cell than the others, which are found when it is measured; the least first.
TELLING = (OUTDATED, EXCLUDED, NOT_RUN)

Key = TypeVar("Key", bound=Hashable)


class Column(NamedTuple):
    """A version of a framework and its mode, by the names that readers see."""

    #: The framework's name, with a place for the version: ``Keras {} on JAX``.
    product: str
    version: str
    mode: str
    #: The framework's name in a study file.
    framework: str

    @property
    def release(self) -> str:
        return " ".join(self.product.format(self.version).split())

    @property
    def text(self) -> str:
        return f"{self.release} {self.mode}"

    @property
    def place(self) -> tuple[int, tuple[int, ...], int]:
        """Return what columns are ordered by: the framework, the version from new to old, and the mode."""
        products = list(dict.fromkeys(map(with_place, NAMES.values())))
        modes = BUILT_IN.facts(self.framework).mode_names
        product = products.index(self.product) if self.product in products else len(products)
        newest_first = tuple(-int(number) for number in re.findall(r"\d+", self.version))
        return product, newest_first, modes.index(self.mode) if self.mode in modes else len(modes)


class Line(NamedTuple):
    """What one run found of one cell."""

    workload: str
    column: Column
    size: str
    precision: str
    device: str
    threads: int
    #: That of the machine, or its GPU where this is the device.
    processor: str
    #: ``ok``, or why there is no time.
    status: str
    reason: str
    quality: str
    processes: int
    #: Seconds per step; None where there is no time that may be used.
    step: Estimate | None
    #: The folder of the run below ``FOLDER``.
    run: str
    #: ``2026-11-26 09:21:33``
    started: str

    @property
    def conditions(self) -> tuple[str, str, str, str]:
        """Return under what a column was measured."""
        return self.size, self.precision, threads_in_words(self.threads), self.processor

    @property
    def place(self) -> tuple[Any, ...]:
        """Return what the lines of a workload are ordered by: the size, the column and the other conditions."""
        sizes = list(BUILT_IN.specification(self.workload).SIZES)
        # Some cells are excluded because the workload has no such size.
        size = sizes.index(self.size) if self.size in sizes else len(sizes)
        return size, self.column.place, PRECISIONS.index(self.precision), self.threads, self.processor


def merit(line: Line) -> tuple[Any, ...]:
    """Return what the best of several lines has more of: a time, information, processes, or a later date."""
    telling = TELLING.index(line.status) if line.status in TELLING else len(TELLING) + (line.status == DISTURBED)
    return line.step is not None, telling, line.processes, line.started


def best(
    lines: Iterable[Line], key: Callable[[Line], Key], of: Callable[[Line], tuple[Any, ...]] = merit
) -> dict[Key, Line]:
    """Choose one line for each key: not disturbed, of the most processes, the newest; a time before any status."""
    found: dict[Key, list[Line]] = defaultdict(list)
    for line in lines:
        found[key(line)].append(line)
    return {each: max(several, key=of) for each, several in found.items()}


def with_place(name: str) -> str:
    """Give a framework's name a place for the version."""
    return name if "{}" in name else f"{name} {{}}"
