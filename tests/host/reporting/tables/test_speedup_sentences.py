"""Tests the sentences above the table of speed-ups, and the remarks below it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from study_reports import speed_up_table

BASE = "torch1:eager"


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
    rows = [sentence.partition(": ")[0] for sentence in speed_up_table(long_study).sentences]
    assert "mlp-train" in rows
    assert "gemm" not in rows


SLOW = "MKL ({}) is not at its fastest on this CPU: benchmatrix's docs/fairness.md."


@pytest.mark.parametrize(("library", "told"), [
    ("mkl 2024.2 (kernels for any processor)", [SLOW.format("PyTorch")]), ("mkl 2024.2", []), ("open", []),
])  # fmt: skip
def test_kernels_that_are_slow_on_this_processor_are_named(long_study, library, told):
    assert [remark for remark in speed_up_table(long_study).remarks if "MKL" in remark] == []
    long_study.change("torch1:eager", "mlp-train", settings={"threads": 2, "BLAS": library})
    assert [remark for remark in speed_up_table(long_study).remarks if "MKL" in remark] == told
    # What has no time is not slow.
    long_study.change("torch1:eager", "mlp-train", status="timeout")
    assert not any("MKL" in remark for remark in speed_up_table(long_study).remarks)


def test_every_framework_whose_library_is_slow_on_this_processor_is_named(long_study):
    library = "mkl 2024.2 (kernels for any processor)"
    long_study.change("torch1:eager", "mlp-train", settings={"threads": 2, "BLAS": library})
    long_study.change("jax:jit", "mlp-train", settings={"threads": 2, "BLAS": library})
    assert SLOW.format("PyTorch and JAX") in speed_up_table(long_study).remarks
    long_study.change("jax:jit", "mlp-train", settings={"threads": 2, "BLAS": library.replace("mkl", "blis")})
    (other,) = [remark for remark in speed_up_table(long_study).remarks if remark.startswith("BLIS (JAX)")]
    assert SLOW.format("PyTorch") in speed_up_table(long_study).remarks
    # It fits the screen in one line.
    assert len(other) < len(SLOW.format("PyTorch")) <= 80


def test_firm_differences_are_said_in_words(long_study):
    table = speed_up_table(long_study)
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
    told = [one for one in speed_up_table(long_study).sentences if not one.startswith(("Fastest", "Best mode"))]
    # A single round has no interval.
    expected = (
        [row[0].text for row in speed_up_table(long_study).groups[0].rows if row[0].text in kept] if rounds > 1 else []
    )
    assert [remark.partition(":")[0] for remark in told] == expected
    assert all("[" in remark for remark in told)


def test_without_verdicts_the_reader_is_told_how_to_get_them(short_study):
    assert any(
        "No verdicts: " in remark and "--profile standard" in remark for remark in speed_up_table(short_study).remarks
    )


def test_a_table_that_is_scrolled_says_how_to_get_verdicts_too(short_study):
    """A run of 52 workloads had no marks, and no word of why."""
    short_study.records += [
        replace(record, cell=replace(record.cell, workload=f"more-{number}"))
        for record in short_study.records
        for number in range(30)
    ]
    assert any(remark.startswith("No verdicts: ") for remark in speed_up_table(short_study).remarks)


def test_whoever_has_the_profile_for_verdicts_is_not_sent_to_it(short_study):
    profile = short_study.manifest.profile.model_copy(update={"rounds": 10})
    table = speed_up_table(short_study, replace(short_study.manifest, profile=profile, finished=True))
    (remark,) = [remark for remark in table.remarks if remark.startswith("No verdicts")]
    assert "--budget" in remark
    assert "--profile" not in remark


def test_an_interrupted_run_without_verdicts_is_to_be_continued(short_study):
    """It was told to have a larger budget, which it had not at all."""
    profile = short_study.manifest.profile.model_copy(update={"rounds": 10})
    table = speed_up_table(short_study, replace(short_study.manifest, profile=profile, finished=False))
    (remark,) = [remark for remark in table.remarks if remark.startswith("No verdicts")]
    assert remark == "No verdicts: they take 10 whole rounds; the same command continues the run."


def test_a_baseline_that_is_fastest_is_called_so(long_study):
    long_study.run["study"]["baseline"] = "jax:jit"
    assert (
        speed_up_table(long_study)
        .sentences[0]
        .startswith("Fastest on average: JAX 2.15 jit; next PyTorch 2.15 compile, 0.")
    )


def test_a_run_that_is_not_what_it_should_be_says_so(long_study):
    long_study.run["finished"] = False
    long_study.run["changed_environments"] = {"torch2": "torch/__init__.py"}
    assert (
        speed_up_table(long_study).sentences[0]
        == "Changed while it was measured: torch2. Partial: the run has not finished."
    )


def test_rows_for_which_the_time_budget_had_no_round_are_counted_above_all_else(long_study):
    """The run ended well, and its first table had one row less than was asked for, in silence."""
    for cell in {cell.column for cell in long_study.cells}:
        long_study.drop(cell, "dispatch")
    long_study.run["stopped"] = {
        cell.row: {"rounds": 0 if cell.workload == "dispatch" else 10, "why": "budget"} for cell in long_study.cells
    }
    table = speed_up_table(long_study)
    assert table.sentences[0] == "The time budget was spent before 1 row had a whole round."
    assert not [row for row in table.rows if row[0].text == "dispatch"]
