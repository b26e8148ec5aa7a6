"""Tests what a report of a part of a run says: nothing that holds only for the cells that it hides."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.host.reporting import report
from bench.host.study.baseline import BEST

HIDDEN = 7


def part_of(study, shown, baseline: str | None = None) -> report.Report:
    manifest = replace(study.manifest, hidden_cells=HIDDEN)
    return report.make(study.records, manifest if baseline is None else manifest.with_baseline(baseline), shown=shown)


def remark(made: report.Report, start: str) -> str | None:
    return next((text for text in made.details.remarks if text.startswith(start)), None)


def jax_alone(cell) -> bool:
    return cell.environment == "jax"


@pytest.mark.parametrize("baseline", ["jax:jit", BEST])
def test_the_twin_of_a_hidden_column_has_the_name_that_options_give_it(long_study, baseline):
    long_study.add_twin()
    made = part_of(long_study, jax_alone, baseline)
    assert "measured with the A/A twin of torch1:eager, 3 rows" in remark(made, "Noise floor")
