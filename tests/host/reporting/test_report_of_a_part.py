"""Tests what a report of a part of a run says: nothing that holds only for the cells that it hides."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.console import Console

from bench.host.reporting import report
from bench.host.reporting.page import content
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


def test_only_shown_rows_have_stopped_and_what_they_were_compared_with_may_be_hidden(long_study):
    long_study.run["looks"] = [8, 10]
    long_study.stop(10, "settled")
    made = part_of(long_study, lambda cell: cell.workload == "dispatch" and cell.column in ("torch1:eager", "jax:jit"))
    assert remark(made, "Rounds") == "Rounds: 1 row was settled after 10 rounds."
    alone = part_of(long_study, lambda cell: cell.column == "torch1:eager")
    assert remark(alone, "Rounds") == "Rounds: 3 rows were settled after 10 rounds."


def test_a_row_of_which_only_excluded_cells_are_shown_is_not_among_those_that_stopped(long_study):
    long_study.run["looks"] = [8, 10]
    long_study.stop(10, "settled")
    long_study.exclude("jax:jit", "dispatch", "not here")
    part = part_of(long_study, lambda cell: cell.column == "jax:jit" and cell.workload != "mlp-train", "jax:jit")
    assert remark(part, "Rounds") == "Rounds: 1 row was settled after 10 rounds."


def test_rows_for_which_no_time_was_left_are_counted_where_they_are_shown(long_study):
    rows = dict.fromkeys(cell.row for cell in long_study.cells)
    long_study.run["stopped"] = {
        row: {"rounds": 0 if row.startswith("dispatch") else 10, "why": "budget"} for row in rows
    }
    sentence = "The time budget was spent before 1 row had a whole round."
    assert sentence in part_of(long_study, lambda cell: cell.workload == "dispatch").main.sentences
    assert sentence not in part_of(long_study, lambda cell: cell.workload != "dispatch").main.sentences


def test_hidden_environments_are_in_no_file(long_study, tmp_path):
    long_study.run["environments"] = {"torch1": {}, "jax": {"built_from_source": True}}
    long_study.run["changed_environments"] = {"jax": "hidden.py"}
    part_of(long_study, lambda cell: cell.environment == "torch1").write(tmp_path)
    assert list(json.loads((tmp_path / "environments.json").read_text())) == ["torch1"]
    for file in ("table.md", "table.tex", "report.html"):
        text = (tmp_path / file).read_text()
        assert [words for words in ("hidden.py", "Changed while", "source") if words in text] == [], file


@pytest.mark.parametrize("twin", [True, False])
def test_where_nothing_shown_is_compared_nothing_is_said_of_verdicts(long_study, twin):
    if twin:
        long_study.add_twin()
    made = part_of(long_study, lambda cell: cell.column == "torch1:eager")
    assert remark(made, "No verdicts") is None
    assert remark(made, "Verdicts") is None
    assert bool(remark(made, "Noise floor")) is twin


def test_the_screen_says_that_it_is_a_part(long_study, capsys):
    sentence = f"A part of a run: {HIDDEN} cells of it are not shown."
    part_of(long_study, lambda cell: cell.environment in ("torch1", "jax")).print(Console())
    assert sentence in capsys.readouterr().out
    report.make(long_study.records, long_study.manifest).print(Console())
    assert "A part" not in capsys.readouterr().out


def test_the_page_begins_with_what_is_fastest_and_says_with_any_baseline_that_it_is_a_part(long_study):
    found = content.of_report(part_of(long_study, lambda cell: cell.environment in ("torch1", "jax")))
    sentence = f"A part of a run: {HIDDEN} cells of it are not shown."
    assert found["answer"][0].startswith("Fastest on average")
    assert sentence in found["lasting"]
    # Hidden comparisons are in no table, and the p values are adjusted for them, too.
    assert not any("of the table" in text for text in found["method"])
