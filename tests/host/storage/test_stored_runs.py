"""Tests that runs of every schema stay readable, and that their tables come out as they did.

``runs/schema-<number>`` holds what a benchmatrix of that schema wrote: a small NumPy study, some records of which were
changed by hand so that more columns have a value. The tables beside it are the ones which that benchmatrix made.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.host.analysis.ranking import FACTORS
from bench.host.reporting import report
from bench.host.storage import journal, manifest

#: What a file and columns of then are called now.
FILES = {"table.csv": "details.csv", "ranking.csv": "ranking.csv"}
COLUMNS = {"unsteady": "large_spread", "baseline_unsteady": "baseline_irregular"}
SHARES = tuple(f"share_within_{factor:g}" for factor in FACTORS)
#: {file of then: {column whose rule was changed since: whether a value of now may stand for one of then}}: what cannot
#: be different takes no part in the correction, intervals over few rows are wider, and a column in few rows has no
#: profile (nan), which gives those of the others more rows.
RENEWED = {
    "table.csv": dict.fromkeys(("adjusted_p", "tail_adjusted_p"), lambda new, _old: new == 1.0),
    "ranking.csv": {
        "ratio_low": lambda new, old: new < old,
        "ratio_high": lambda new, old: new > old,
        "profile_rows": lambda new, old: math.isnan(new) or new > old,
        **dict.fromkeys((*SHARES, "share_solved"), lambda new, _old: math.isnan(new) or 0.0 <= new <= 1.0),
    },
}
RUNS = sorted((Path(__file__).parent / "runs").iterdir())


def same(made: str, stored: str, renewed: Callable[[float, float], bool] | None) -> bool:
    """Compare two fields: numbers up to the last digits, in which NumPy's logarithm differs between processors."""
    try:
        new, old = float(made or "nan"), float(stored or "nan")
        return new == pytest.approx(old, rel=1e-12, nan_ok=True) or (renewed is not None and renewed(new, old))
    except ValueError:
        return made == stored


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("name", FILES)
def test_the_tables_of_a_stored_run_come_out_as_they_did(tmp_path, folder, name):
    report.make(journal.read(folder), manifest.read(folder)).write(tmp_path)
    files = (tmp_path / FILES[name], folder / name)
    made, stored = (list(csv.reader(io.StringIO(file.read_text()))) for file in files)
    stored[0] = [COLUMNS.get(field, field) for field in stored[0]]
    stored[1:] = [[field.replace("unsteady: ", "large spread: ") for field in row] for row in stored[1:]]
    # Columns may have been added since; those of then stand in the same order.
    assert [field for field in made[0] if field in stored[0]] == stored[0]
    assert len(made) == len(stored)
    different = [
        (row[:5], field, old, new)
        for new_row, row in zip(made[1:], stored[1:], strict=True)
        for field, old in zip(stored[0], row, strict=True)
        if not same(new := new_row[made[0].index(field)], old, RENEWED[name].get(field))
    ]
    assert different == []
