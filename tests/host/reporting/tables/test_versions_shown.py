"""Tests the first table of a study of the versions of one framework: short headings, new versions, gains, losses."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from study_reports import report_of

from bench.host.analysis.run_analysis import analyse
from bench.host.reporting.figures import speedups
from bench.host.reporting.tables.speedup_values import speed_ups
from bench.host.study.baseline import PREVIOUS

VERSIONS = {"torch1:eager": "1.13.1", "torch2:eager": "2.10.0"}


@pytest.fixture
def versions(long_study):
    """The study as one of two versions of PyTorch in one mode."""
    long_study.records = [
        replace(record, versions={"torch": VERSIONS[record.cell.column]})
        for record in long_study.records
        if record.cell.column in VERSIONS
    ]
    long_study.run["planned"] = [
        cell for cell in long_study.run["planned"] if f"{cell['environment']}:{cell['mode']}" in VERSIONS
    ]
    return long_study


def made(study, baseline):
    study.run["study"] |= {"baseline": baseline}
    return report_of(study)


def test_headings_do_not_repeat_the_framework_that_the_caption_names(versions):
    for baseline, caption in (("torch1:eager", "Time per step of PyTorch 1.13 eager"), (PREVIOUS, "PyTorch: speed-up")):
        table = made(versions, baseline).main
        assert [column.title.rstrip("°") for column in table.columns] == ["workload", "1.13\neager", "2.10\neager"]
        assert table.caption.startswith(caption)


def test_the_clearest_gain_and_loss_name_the_version_before(versions):
    told = [said for said in made(versions, PREVIOUS).main.sentences if "PyTorch 2.10 eager" in said]
    assert any(" times as long as 1.13 [" in remark for remark in told)
    assert all(" as 1.13 [" in remark for remark in told)
    # Compared with one baseline, whose name the caption has, no sentence repeats it.
    assert not any(" as 1.13 [" in told for told in made(versions, "torch1:eager").main.sentences)


def test_rows_without_the_version_before_show_the_time_and_are_no_part_of_the_mean(versions):
    """They once counted as speed-ups of exactly 1, so a version that is twice as fast in all rows had a lower mean."""
    versions.change("torch2:eager", sample_ns=lambda r: [round(ns / 2 / 1.07) for ns in r.sample_ns])
    one = versions.records[0].cell.workload
    mini = [replace(r, cell=replace(r.cell, size="mini")) for r in versions.records if r.cell.workload == one]
    versions.records += [record for record in mini if record.cell.environment == "torch2"]
    for record in (record for record in mini if record.round == 0):
        cell = record.cell.to_json()
        if record.cell.environment == "torch2":
            versions.run["planned"].append(cell)
        else:
            versions.run["excluded"].append([cell, "too large for it"])
    manifest = versions.manifest.with_baseline(PREVIOUS)
    found = speed_ups(analyse(versions.records, manifest), manifest)
    newer = [row.cells["torch2:eager"] for row in found.rows]
    alone = [cell for cell in newer if cell.result.cell.size == "mini"]
    assert [(cell.speed_up, cell.shows_time, cell.is_base) for cell in alone] == [(None, True, False)]
    assert [cell.speed_up.value for cell in newer if cell not in alone] == pytest.approx([2.0] * 3, rel=0.05)
    (track,) = found.tracks
    assert (track.rows, track.of_rows) == (3, 4)
    assert track.means["torch2:eager"] == pytest.approx(2.0, rel=0.05)


def test_a_narrow_terminal_keeps_the_baseline_and_the_newest_version(versions):
    newer = [
        replace(record, cell=replace(record.cell, environment="torch3"), versions={"torch": "2.15.1"})
        for record in versions.records
        if record.cell.environment == "torch2"
    ]
    versions.records += newer
    output = io.StringIO()
    made(versions, "torch1:eager").print(Console(file=output, width=34))
    heading = output.getvalue().partition("─")[0]
    assert [version in heading for version in ("1.13  ", "2.10", "2.15")] == [True, False, True]


def test_the_figure_leaves_out_the_oldest_version_which_has_nothing_before_it(versions):
    figure = speedups.draw(made(versions, PREVIOUS))
    named = {
        text.get_text()
        for legend in [*figure.legends, *[axes.get_legend() for axes in figure.axes]]
        if legend
        for text in legend.get_texts()
    }
    assert named == {"PyTorch 2.10 eager"}
