"""Tests the table of speed-ups, with which a run ends."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console
from study_reports import report_of, speed_up_table

from bench.host.analysis.run_analysis import analyse
from bench.host.reporting import report
from bench.host.reporting.renderers import markdown, terminal
from bench.host.reporting.tables import screen as lines
from bench.host.reporting.tables.speedup_values import speed_up_digits, speed_ups, time_digits
from bench.host.reporting.tables.speedups import WITHHELD
from bench.host.reporting.words.text import EMPTY
from bench.host.statistics.verdict import Verdict

BASE = "torch1:eager"


def rows(study) -> dict[str, list[str]]:
    return {row[0].text: [entry.text for entry in row[1:]] for row in speed_up_table(study).groups[0].rows}


def screen(study) -> list[str]:
    console = Console(file=io.StringIO(), width=80)
    terminal.render(console, speed_up_table(study))
    return console.file.getvalue().splitlines()


def number(text: str) -> float:
    return float(text.rstrip("*≈?~^"))


def test_the_baseline_comes_first_with_its_time_and_the_others_with_their_speed_up(long_study):
    table = speed_up_table(long_study)
    assert [column.title.replace("\n", " ") for column in table.columns[:3]] == [
        "workload",
        "PyTorch 1.13 eager",
        "PyTorch 1.13 script",
    ]
    found = rows(long_study)["mlp-train"]
    assert found[0].rstrip("~^").split()[1] == "ms"
    # Factors of the planted times.
    assert number(found[3]) == pytest.approx(1 / 0.71, rel=0.05)
    assert number(found[6]) == pytest.approx(1 / 3.1, rel=0.05)


@pytest.mark.parametrize(
    ("value", "verdict", "text"),
    [
        (1.0479, Verdict.DIFFERENT, "1.05"),
        (1.0121, Verdict.DIFFERENT, "1.01"),
        (1.012, Verdict.EQUIVALENT, "1.0"),
        (1.0479, None, "1.0"),
        (1.052, Verdict.DIFFERENT, "1.1"),
        (0.953, Verdict.DIFFERENT, "0.95"),
        (13.2, Verdict.DIFFERENT, "13"),
    ],
)
def test_what_is_certainly_different_does_not_look_equal(long_study, value, verdict, text):
    found = speed_ups(analyse(long_study.records, long_study.manifest), long_study.manifest)
    cell = next(cell for cell in found.cells() if cell.speed_up is not None and not cell.is_base)
    other = replace(
        cell,
        speed_up=replace(cell.speed_up, value=value),
        result=replace(cell.result, comparison=SimpleNamespace(verdict=verdict)),
    )
    assert speed_up_digits(found, other) == text


def test_the_last_row_is_the_geometric_mean_of_those_above(long_study):
    found = rows(long_study)
    mean = found.pop("geometric mean")
    factors = [number(row[3]) for row in found.values()]
    assert number(mean[3]) == pytest.approx(math.prod(factors) ** (1 / len(factors)), rel=0.05)
    assert mean[0] == ""


def test_a_time_beside_other_programs_is_withheld_and_the_table_begins_with_why(long_study):
    long_study.change("jax:jit", "mlp-train", other_load=0.9)
    found = rows(long_study)
    assert found["mlp-train"][-1] == WITHHELD
    # A mean takes three whole rows: the other columns have them.
    assert found["geometric mean"][-1] == ""
    assert all(found["geometric mean"][1:-1])
    said = "The machine was busy: 1 of 24 cells cannot be used (-; their times are in the details). Close"
    assert " ".join(screen(long_study)[:2]).startswith(said)
    shown = [row for row in report_of(long_study).details.rows if row[-1].text == "disturbed"]
    assert [(row[0].text, row[1].text != EMPTY) for row in shown] == [("JAX 2.15 jit", True)]
    assert not any("jit" in told and "mlp-train" in told for told in speed_up_table(long_study).sentences)


def test_what_is_withheld_for_its_baseline_is_counted_with_the_rest(long_study):
    before = screen(long_study)
    long_study.change(BASE, "mlp-train", other_load=0.9)
    found = rows(long_study)["mlp-train"]
    assert set(found) <= {WITHHELD, ""}
    shown = screen(long_study)
    assert " ".join(shown[:2]).startswith(f"The machine was busy: {found.count(WITHHELD)} of 24 cells cannot be used")

    def judged(lines: list[str]) -> int:
        return int(re.search(r"certain at 1% \(\d+ of (\d+)\)", " ".join(lines))[1])

    # The baseline itself has no verdict.
    assert judged(shown) == judged(before) - (found.count(WITHHELD) - 1)


def test_a_trial_says_first_that_its_times_mean_nothing(long_study):
    long_study.run["profile"] = {**long_study.run["profile"], "trial": True}
    long_study.change("jax:jit", "mlp-train", status="mismatch", stage="check", reason="loss", sample_ns=[])
    console = Console(file=io.StringIO(), width=80)
    terminal.render(console, report_of(long_study).main)
    shown = console.file.getvalue().splitlines()
    assert shown[0] == "A trial: it checks the cells, and its times mean nothing."
    assert shown[1].startswith("Agreement with float64 (small, float32, cpu, 2 threads)")
    (line,) = (line for line in shown if line.startswith("mlp-train"))
    # The last column stays, since something is wrong there.
    assert line.split()[-1] == "mismatch"
    assert set(line.split()[1:]) == {"ok", "mismatch"}
    assert not any(mark in "".join(shown) for mark in ("~", "µs", " ms"))


def test_a_single_column_has_no_row_of_means(long_study):
    assert "geometric mean" in rows(long_study)
    long_study.records = [record for record in long_study.records if record.cell.column == "torch1:eager"]
    assert "geometric mean" not in rows(long_study)


def test_without_a_usable_baseline_nothing_of_its_row_is_compared(long_study):
    long_study.change("torch1:eager", "mlp-train", other_load=0.9)
    assert set(rows(long_study)["mlp-train"]) == {WITHHELD}
    assert not any(told.startswith("mlp-train") for told in speed_up_table(long_study).sentences)


def test_a_cell_without_a_time_shows_its_status(short_study):
    assert rows(short_study)["dispatch"][3] == "timeout"
    assert any(remark.startswith("Without a time: ") for remark in speed_up_table(short_study).remarks)


def test_it_fits_one_screen_with_six_lines_below_the_table(long_study):
    lines = screen(long_study)
    # One is for the files' names, one for the prompt.
    assert len(lines) <= 24 - 2
    assert max(map(len, lines)) <= 80
    assert len(speed_up_table(long_study).remarks) <= 6


def test_best_modes_stand_in_the_files_where_the_screen_has_no_room_for_them(long_study, monkeypatch):
    line = "Best mode per row"
    roomy = report_of(long_study).speed_up_table
    assert any(text.startswith(line) for text in roomy.sentences)
    assert not roomy.more
    # What names the files, and the prompt, take two lines.
    monkeypatch.setattr(lines, "HEIGHT", lines.height(replace(roomy, sentences=roomy.sentences[:1])) + 2)
    table = report.make(long_study.records, long_study.manifest).speed_up_table
    assert not any(text.startswith(line) for text in table.sentences)
    assert [text.startswith(line) for text in table.more] == [True]
    assert table.more[0] in markdown.render(table)
    console = Console(file=io.StringIO(), width=80)
    terminal.render(console, table)
    assert line not in console.file.getvalue()


def test_no_entry_has_more_than_two_marks(long_study):
    for row in rows(long_study).values():
        assert all(len(text) - len(text.rstrip("*≈?~^")) <= 2 for text in row)


def test_without_the_baseline_there_is_no_such_table(long_study):
    for workload in ("dispatch", "mlp-train", "catdog-cnn-train"):
        long_study.exclude("torch1:eager", workload, "left out")
    assert speed_up_table(long_study) is None


def test_the_first_sentence_says_what_is_fastest_on_average_and_how_close_the_next_is(long_study):
    said = re.fullmatch(
        r"Fastest on average: JAX 2\.15 jit, (1\.\d\d) times as fast; PyTorch 2\.15 compile (1\.\d\d)\.",
        speed_up_table(long_study).sentences[0],
    )
    means = rows(long_study)["geometric mean"]
    assert [float(said[1]), float(said[2])] == pytest.approx(sorted(map(number, means[1:]))[:-3:-1], rel=0.05)


def test_columns_stand_by_framework_and_version(long_study):
    titles = [column.title.replace("\n", " ").rstrip("°") for column in speed_up_table(long_study).columns[1:]]
    frameworks = [title.split()[0] for title in titles]
    assert frameworks == sorted(frameworks, key=frameworks.index)
    versions = [float(title.split()[1]) for title in titles if title.startswith("PyTorch")]
    assert versions == sorted(versions)


def test_rows_of_one_thread_and_of_several_are_never_averaged_together(long_study):
    other = [
        replace(
            r, cell=replace(r.cell, threads=1, workload=f"{r.cell.workload}-1"), sample_ns=[9 * n for n in r.sample_ns]
        )
        for r in long_study.records
        if r.cell.column == "torch2:eager"
    ]
    base = [
        replace(r, cell=replace(r.cell, threads=1, workload=f"{r.cell.workload}-1"))
        for r in long_study.records
        if r.cell.column == "torch1:eager"
    ]
    before = rows(long_study)["geometric mean"]
    place = [column.title.replace("\n", " ") for column in speed_up_table(long_study).columns].index(
        "PyTorch 2.15 eager°"
    ) - 1
    long_study.records += [*other, *base]
    found = rows(long_study)
    assert found["geometric mean, 2 threads"] == before
    assert number(found["geometric mean, 1 thread"][place]) == pytest.approx(number(before[place]) / 9, rel=0.1)
    assert any(told.endswith("(3 rows, 2 threads).") for told in speed_up_table(long_study).sentences)


def test_a_mean_over_some_of_the_rows_says_over_how_many(long_study):
    for number_ in range(3):
        extra = [
            replace(r, cell=replace(r.cell, workload=f"gemm-{number_}"))
            for r in long_study.records
            if r.cell.workload == "mlp-train"
        ]
        long_study.records += extra
    gone = ("jax:jit", "gemm-0")
    long_study.records = [r for r in long_study.records if (r.cell.column, r.cell.workload) != gone]
    assert "geometric mean, 5 rows" in rows(long_study)


def test_settings_that_may_explain_a_ratio_mark_the_column(long_study):
    titles = {column.title.replace("\n", " ") for column in speed_up_table(long_study).columns}
    assert "JAX 2.15 jit°" in titles
    assert "PyTorch 1.13 script" in titles
    assert "° Settings that may matter differ: instruction set." in speed_up_table(long_study).remarks
    long_study.records = [replace(record, settings={}) for record in long_study.records]
    assert not any("°" in column.title for column in speed_up_table(long_study).columns)


def test_a_small_speed_up_and_a_small_mean_have_two_digits(long_study):
    for workload in ("dispatch", "mlp-train", "catdog-cnn-train"):
        long_study.slow("torch1:torchscript", workload, 200.0)
    column = [row[1] for row in rows(long_study).values()]
    assert len(column) == 4
    assert all(re.fullmatch(r"0\.00\d\d", text.rstrip("*≈?~^")) for text in column)


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(999.4e-6, "999 µs"), (999.6e-6, "1.0 ms"), (1e-3, "1.0 ms"), (0.99996, "1.0 s"), (42e-6, "42 µs")],
)
def test_a_time_is_never_a_thousand_of_its_unit(seconds, written):
    assert " ".join(time_digits(seconds)) == written
