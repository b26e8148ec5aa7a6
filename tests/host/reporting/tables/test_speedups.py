"""Tests the table of speed-ups, with which a run ends."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console
from study_reports import report_of

from bench.host.analysis.run_analysis import analyse
from bench.host.reporting import report
from bench.host.reporting.renderers import markdown, terminal
from bench.host.reporting.tables import screen as lines
from bench.host.reporting.tables.speedup_values import speed_up_digits, speed_ups, time_digits
from bench.host.reporting.tables.speedups import WITHHELD, summarise
from bench.host.reporting.words.text import EMPTY
from bench.host.statistics.verdict import Verdict

BASE = "torch1:eager"


def made(study, manifest=None):
    manifest = manifest or study.manifest
    found = speed_ups(analyse(study.records, manifest), manifest)
    return None if found is None else summarise(found, manifest)


def rows(study) -> dict[str, list[str]]:
    return {row[0].text: [entry.text for entry in row[1:]] for row in made(study).groups[0].rows}


def screen(study) -> list[str]:
    console = Console(file=io.StringIO(), width=80)
    terminal.render(console, made(study))
    return console.file.getvalue().splitlines()


def number(text: str) -> float:
    return float(text.rstrip("*≈?~^"))


def test_the_baseline_comes_first_with_its_time_and_the_others_with_their_speed_up(long_study):
    table = made(long_study)
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


def test_sentences_are_about_the_rows_that_have_the_usual_threads(long_study):
    """The clearest differences are in the row of one thread, whose steps are short."""
    long_study.records += [
        replace(
            record,
            cell=replace(record.cell, workload="gemm", threads=1),
            sample_ns=[ns if record.cell.column == BASE else 9 * ns for ns in record.sample_ns],
        )
        for record in long_study.records
        if record.cell.workload == "mlp-train"
    ]
    rows = [sentence.partition(": ")[0] for sentence in made(long_study).sentences]
    assert "mlp-train" in rows
    assert "gemm" not in rows


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
    shown = [row for group in report_of(long_study).details.groups for row in group.rows if row[-1].text == "disturbed"]
    assert [(row[0].text, row[1].text != EMPTY) for row in shown] == [("JAX 2.15 jit", True)]
    assert not any("jit" in told and "mlp-train" in told for told in made(long_study).sentences)


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
    assert not any(told.startswith("mlp-train") for told in made(long_study).sentences)


def test_a_cell_without_a_time_shows_its_status(short_study):
    assert rows(short_study)["dispatch"][3] == "timeout"
    assert any(remark.startswith("Without a time: ") for remark in made(short_study).remarks)


SLOW = "MKL ({}) is not at its fastest on this CPU: benchmatrix's docs/fairness.md."


@pytest.mark.parametrize(("library", "told"), [
    ("mkl 2024.2 (kernels for any processor)", [SLOW.format("PyTorch")]), ("mkl 2024.2", []), ("open", []),
])  # fmt: skip
def test_kernels_that_are_slow_on_this_processor_are_named(long_study, library, told):
    assert [remark for remark in made(long_study).remarks if "MKL" in remark] == []
    long_study.change("torch1:eager", "mlp-train", settings={"threads": 2, "BLAS": library})
    assert [remark for remark in made(long_study).remarks if "MKL" in remark] == told
    # What has no time is not slow.
    long_study.change("torch1:eager", "mlp-train", status="timeout")
    assert not any("MKL" in remark for remark in made(long_study).remarks)


def test_every_framework_whose_library_is_slow_on_this_processor_is_named(long_study):
    library = "mkl 2024.2 (kernels for any processor)"
    long_study.change("torch1:eager", "mlp-train", settings={"threads": 2, "BLAS": library})
    long_study.change("jax:jit", "mlp-train", settings={"threads": 2, "BLAS": library})
    assert SLOW.format("PyTorch and JAX") in made(long_study).remarks
    long_study.change("jax:jit", "mlp-train", settings={"threads": 2, "BLAS": library.replace("mkl", "blis")})
    (other,) = [remark for remark in made(long_study).remarks if remark.startswith("BLIS (JAX)")]
    assert SLOW.format("PyTorch") in made(long_study).remarks
    # It fits the screen in one line.
    assert len(other) < len(SLOW.format("PyTorch")) <= 80


def test_firm_differences_are_said_in_words(long_study):
    table = made(long_study)
    said = [told for told in table.sentences if not told.startswith(("Fastest", "Best mode"))]
    assert said
    assert all(told.endswith(", certain at 1%.") for told in said)
    assert any(remark.startswith("* different, certain at 1% (") for remark in table.remarks)


@pytest.mark.parametrize("rounds", [1, 10])
def test_of_two_comparisons_each_is_told_with_its_interval(long_study, rounds):
    kept, other = ("dispatch", "mlp-train"), "jax:jit"
    long_study.records = [
        r
        for r in long_study.records
        if r.cell.column in ("torch1:eager", other) and r.cell.workload in kept and r.round < rounds
    ]
    told = [one for one in made(long_study).sentences if not one.startswith(("Fastest", "Best mode"))]
    # A single round has no interval.
    expected = [name for name in rows(long_study) if name in kept] if rounds > 1 else []
    assert [remark.partition(":")[0] for remark in told] == expected
    assert all("[" in remark for remark in told)


def test_without_verdicts_the_reader_is_told_how_to_get_them(short_study):
    assert any("No verdicts: " in remark and "--profile standard" in remark for remark in made(short_study).remarks)


def test_whoever_has_the_profile_for_verdicts_is_not_sent_to_it(short_study):
    profile = short_study.manifest.profile.model_copy(update={"rounds": 10})
    table = made(short_study, replace(short_study.manifest, profile=profile, finished=True))
    (remark,) = [remark for remark in table.remarks if remark.startswith("No verdicts")]
    assert "--budget" in remark
    assert "--profile" not in remark


def test_an_interrupted_run_without_verdicts_is_to_be_continued(short_study):
    """It was told to have a larger budget, which it had not at all."""
    profile = short_study.manifest.profile.model_copy(update={"rounds": 10})
    table = made(short_study, replace(short_study.manifest, profile=profile, finished=False))
    (remark,) = [remark for remark in table.remarks if remark.startswith("No verdicts")]
    assert remark == "No verdicts: they take 10 whole rounds; the same command continues the run."


def test_it_fits_one_screen_with_six_lines_below_the_table(long_study):
    lines = screen(long_study)
    # One is for the files' names, one for the prompt.
    assert len(lines) <= 24 - 2
    assert max(map(len, lines)) <= 80
    assert len(made(long_study).remarks) <= 6


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
    assert made(long_study) is None


def test_the_first_sentence_says_what_is_fastest_on_average_and_how_close_the_next_is(long_study):
    said = re.fullmatch(
        r"Fastest on average: JAX 2\.15 jit, (1\.\d\d) times as fast; PyTorch 2\.15 compile (1\.\d\d)\.",
        made(long_study).sentences[0],
    )
    means = rows(long_study)["geometric mean"]
    assert [float(said[1]), float(said[2])] == pytest.approx(sorted(map(number, means[1:]))[:-3:-1], rel=0.05)


def test_a_baseline_that_is_fastest_is_called_so(long_study):
    long_study.run["study"]["baseline"] = "jax:jit"
    assert made(long_study).sentences[0].startswith("Fastest on average: JAX 2.15 jit; next PyTorch 2.15 compile, 0.")


def test_columns_stand_by_framework_and_version(long_study):
    titles = [column.title.replace("\n", " ").rstrip("°") for column in made(long_study).columns[1:]]
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
    place = [column.title.replace("\n", " ") for column in made(long_study).columns].index("PyTorch 2.15 eager°") - 1
    long_study.records += [*other, *base]
    found = rows(long_study)
    assert found["geometric mean, 2 threads"] == before
    assert number(found["geometric mean, 1 thread"][place]) == pytest.approx(number(before[place]) / 9, rel=0.1)
    assert any(told.endswith("(3 rows, 2 threads).") for told in made(long_study).sentences)


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
    titles = {column.title.replace("\n", " ") for column in made(long_study).columns}
    assert "JAX 2.15 jit°" in titles
    assert "PyTorch 1.13 script" in titles
    assert "° Settings that may matter differ: instruction set." in made(long_study).remarks
    long_study.records = [replace(record, settings={}) for record in long_study.records]
    assert not any("°" in column.title for column in made(long_study).columns)


def test_a_run_that_is_not_what_it_should_be_says_so(long_study):
    long_study.run["finished"] = False
    long_study.run["changed_environments"] = {"torch2": "torch/__init__.py"}
    assert made(long_study).sentences[0] == "Changed while it was measured: torch2. Partial: the run has not finished."


def test_rows_for_which_the_time_budget_had_no_round_are_counted_above_all_else(long_study):
    """The run ended well, and its first table had one row less than was asked for, in silence."""
    for cell in {cell.column for cell in long_study.cells}:
        long_study.drop(cell, "dispatch")
    long_study.run["stopped"] = {
        cell.row: {"rounds": 0 if cell.workload == "dispatch" else 10, "why": "budget"} for cell in long_study.cells
    }
    table = made(long_study)
    assert table.sentences[0] == "The time budget was spent before 1 row had a whole round."
    assert not [row for group in table.groups for row in group.rows if row[0].text == "dispatch"]


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
