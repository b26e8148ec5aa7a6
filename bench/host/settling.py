"""Knows which rows of a run are settled at a look: every comparison with the baseline is different or equivalent."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.cell import Cell
from bench.record import Record

from .schedule import groups
from .statistics import stopping
from .statistics.location import FloatArray
from .statistics.noise import noise_floor
from .statistics.pairs import Ratio, pair_log_ratios
from .tables.results import timed_processes
from .twin import is_twin, original_cell


def rounds_of(keys: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    """Return the round of each pair; pairs are known by (round, attempt)."""
    return np.array([key[0] for key in keys if isinstance(key, tuple)], dtype=np.int64)


@dataclass(frozen=True)
class Judge:
    """Judges the rows of a run against the column ``baseline``."""

    baseline: str
    looks: Sequence[int]
    #: Whether the baseline's twin is itself what is to be settled.
    twins: bool = False

    def settled(self, records: Sequence[Record], rounds: int) -> list[str]:
        """List the rows whose comparisons are all settled after so many rounds.

        The p values of all comparisons are adjusted together, as in the table. A cell without pairs, such as one that
        failed, asks for no more rounds.
        """
        rows = groups(dict.fromkeys(record.cell for record in records))
        compared = [(row, ratio) for row, cells in rows.items() for ratio in self._compare(cells, records, rounds)]
        floor = None if self.twins else noise_floor([self._twin(cells, records) for cells in rows.values()])
        answers = stopping.settled([ratio for _, ratio in compared], floor=floor.value if floor else 0.0)
        going = {row for (row, _), settled in zip(compared, answers, strict=True) if not settled}
        return [row for row in rows if row not in going]

    def _twin(self, cells: Sequence[Cell], records: Sequence[Record]) -> FloatArray:
        """Return the log ratios of a row's twin to its original; none without a twin."""
        twin = next((cell for cell in cells if is_twin(cell)), None)
        if twin is None:
            return np.array([])
        mine, original = (
            timed_processes(record for record in records if record.cell == cell)[0]
            for cell in (twin, original_cell(twin))
        )
        return pair_log_ratios(mine, original)[1]

    def _compare(self, cells: Sequence[Cell], records: Sequence[Record], rounds: int) -> Iterator[Ratio]:
        """Compare the cells of a row with its baseline, as far as the looks go."""
        own = {cell: [record for record in records if record.cell == cell] for cell in cells}
        processes = {cell: timed_processes(made)[0] for cell, made in own.items()}
        base = next((made for cell, made in processes.items() if cell.column == self.baseline), {})
        # A row that stopped earlier was not looked at again.
        done = min(rounds, 1 + max(record.round for made in own.values() for record in made))
        for cell in cells:
            if cell.column != self.baseline and (self.twins or not is_twin(cell)):
                keys, log_ratios = pair_log_ratios(processes[cell], base)
                ratio = stopping.sequential_ratio(rounds_of(keys), log_ratios, self.looks, done)
                if ratio is not None:
                    yield ratio
