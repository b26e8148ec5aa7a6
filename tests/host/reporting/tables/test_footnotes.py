"""Tests what is said beside a number: why there is none, what went wrong, and what it hides."""

from __future__ import annotations

import re
from dataclasses import replace

from study_reports import detail_row, summary_entry, tables

from bench.host.reporting.tables.table import Entry
from bench.host.statistics.roofline import implausible
from bench.record import FAILED, TIMEOUT


def test_processes_that_ended_badly_are_counted(short_study):
    row = detail_row(short_study, "tf2:eager", "dispatch")
    (note,) = row["status"].notes
    assert note == "2 of 3 processes ok; failed in measure: killed by SIGSEGV; last words: [core] <dumped>"
    assert row["n"].text == "2×12"


def test_a_failed_baseline_is_the_reason_for_a_missing_ratio(long_study):
    long_study.end("torch1:eager", "mlp-train", TIMEOUT, "build", "300 s passed")
    row = detail_row(long_study, "jax:jit", "mlp-train")
    assert row["ratio"] == Entry("–", ("no ratio: the status of the baseline is timeout",))
    assert row["step time"].text != "–"


def test_a_row_without_the_baseline_says_so(long_study):
    long_study.drop("torch1:eager", "mlp-train")
    long_study.run["planned"].remove(long_study.find("torch1:eager", "mlp-train").to_json())
    row = detail_row(long_study, "jax:jit", "mlp-train")
    assert row["ratio"].notes == ("no ratio: the baseline is not part of this row",)


def test_long_reasons_are_cut_in_footnotes(short_study):
    short_study.end("jax:eager", "mlp-train", "failed", "build", "word " * 200)
    (note,) = detail_row(short_study, "jax:eager", "mlp-train")["status"].notes
    assert len(note) < 250
    assert note.endswith("word …")


LARGE_SPREAD = (
    "large spread: in 1 of 10 processes the middle half of the samples spans more than 25% of their median; "
    "in 1 of 10 processes the median of the samples is more than 2 times their 10% quantile; "
)
OF_IRREGULAR = "the baseline of this ratio has a large spread, or was compiled while timing"


def test_a_large_spread_is_marked_with_its_processor_time(long_study):
    long_study.disturb("jax:jit", "mlp-train")
    (note,) = detail_row(long_study, "jax:jit", "mlp-train")["step time"].notes
    assert note.startswith(LARGE_SPREAD)
    assert re.search(r"; the slowest process took \d+\.\d times as long as the fastest; ", note)
    assert note.endswith("; processor time 2.0 × wall time")
    summary, details = tables(long_study)
    assert summary_entry(long_study, "jax:jit", "mlp-train").notes == ("large spread",)
    assert "large spread" in summary.marks
    assert [found for found in details.marks if "large spread:" in found] == [note]


def test_an_irregular_baseline_is_told_at_every_ratio_of_its_row_alone(long_study):
    long_study.disturb("torch1:eager", "mlp-train")
    assert detail_row(long_study, "jax:jit", "mlp-train")["ratio"].notes == (OF_IRREGULAR,)
    assert summary_entry(long_study, "jax:jit", "mlp-train").notes == (OF_IRREGULAR,)
    baseline = detail_row(long_study, "torch1:eager", "mlp-train")
    assert baseline["step time"].notes[0].startswith(LARGE_SPREAD)
    assert baseline["ratio"].notes == ()
    assert detail_row(long_study, "jax:jit", "dispatch")["ratio"].notes == ()


def test_records_without_processor_time_have_a_large_spread_without_it(long_study):
    long_study.disturb("jax:jit", "mlp-train")
    long_study.records = [replace(record, sample_cpu_ns=[]) for record in long_study.records]
    (note,) = detail_row(long_study, "jax:jit", "mlp-train")["step time"].notes
    assert note.startswith(LARGE_SPREAD)
    assert "processor time" not in note


def test_a_tail_with_another_verdict_becomes_a_note(long_study):
    long_study.change(
        "torch2:eager",
        "mlp-train",
        sample_ns=lambda r: [round(ns / 1.07 * (2 if i % 6 == 0 else 1)) for i, ns in enumerate(r.sample_ns)],
    )
    (note,) = detail_row(long_study, "torch2:eager", "mlp-train")["ratio"].notes
    assert re.fullmatch(r"90% quantiles: ratio \d\.\d+ \[\d\.\d+, \d\.\d+\], different", note)
    assert "90% quantiles compare otherwise" in summary_entry(long_study, "torch2:eager", "mlp-train").notes
    assert detail_row(long_study, "jax:jit", "mlp-train")["ratio"].notes == ()


def test_a_tail_that_goes_the_other_way_becomes_a_note(long_study):
    """Both are different: the median is shorter, the 90% quantile longer."""
    long_study.change(
        "jax:jit",
        "mlp-train",
        sample_ns=lambda r: [ns * (4 if i % 6 == 0 else 1) for i, ns in enumerate(r.sample_ns)],
    )
    (note,) = detail_row(long_study, "jax:jit", "mlp-train")["ratio"].notes
    assert note.startswith("90% quantiles: ratio 1.8")


def test_a_tail_that_goes_much_further_becomes_a_note(long_study):
    """Both are slower: the median by 7 %, the 90% quantile by 114 %."""
    long_study.change(
        "torch2:eager",
        "mlp-train",
        sample_ns=lambda r: [round(ns * 1.07 * (2 if i % 6 == 0 else 1)) for i, ns in enumerate(r.sample_ns)],
    )
    (note,) = detail_row(long_study, "torch2:eager", "mlp-train")["ratio"].notes
    assert re.fullmatch(r"90% quantiles: ratio [12]\.\d+ \[[12]\.\d+, [12]\.\d+\], different", note)


def test_a_tail_that_goes_a_little_further_is_no_note(long_study):
    long_study.change(
        "torch2:eager",
        "mlp-train",
        sample_ns=lambda r: [round(ns * 1.07 * (1.02 if i % 6 == 0 else 1)) for i, ns in enumerate(r.sample_ns)],
    )
    assert detail_row(long_study, "torch2:eager", "mlp-train")["ratio"].notes == ()


def test_a_refused_ratio_names_the_setting(long_study):
    long_study.run["strict"] = True
    row = detail_row(long_study, "jax:jit", "mlp-train")
    assert row["ratio"] == Entry("–", ("no ratio (--strict): instruction set is AVX512 here and AVX2 in the baseline",))
    assert row["step time"].text != "–"
    assert "(" not in summary_entry(long_study, "jax:jit", "mlp-train").text
    for table in tables(long_study):
        assert any(
            remark.startswith("--strict: a cell gets no ratio where a user could have") for remark in table.remarks
        )


def test_samples_before_the_steady_state_are_told(long_study):
    long_study.change(
        "jax:jit",
        "mlp-train",
        sample_ns=lambda r: [round(ns * (1.2 if i < 6 else 1)) for i, ns in enumerate(r.sample_ns)],
    )
    row = detail_row(long_study, "jax:jit", "mlp-train")
    assert row["warm-up"].text.startswith("warm-up ")
    (note,) = row["step time"].notes
    assert re.fullmatch(
        r"\d+ samples before the steady state are left out; "
        r"with them the median would be \d+\.\d% longer",
        note,
    )


def test_compiling_while_timing_is_told_at_the_time_and_at_ratios_to_it(long_study):
    long_study.change("torch1:eager", "mlp-train", compilation={"recompiled_while_timing": 1})
    (note,) = detail_row(long_study, "torch1:eager", "mlp-train")["step time"].notes
    assert note == "recompiled 10× while timing, in 10 of 10 processes: the time includes compilation"
    assert detail_row(long_study, "jax:jit", "mlp-train")["ratio"].notes == (OF_IRREGULAR,)


def test_a_time_that_cannot_be_is_told_with_what_the_machine_can_do(long_study):
    """The whole sentence of the roofline's gate is kept, although footnotes are cut."""
    reason = implausible(1.234e-5, 1e3, 2.345e9, 1.234e11, [(1e9, 1.234e11)])
    cell = long_study.find("jax:jit", "mlp-train")
    long_study.records = [
        replace(r, status=FAILED, stage="measure", reason=reason) if r.cell == cell else r for r in long_study.records
    ]
    row = detail_row(long_study, "jax:jit", "mlp-train")
    assert row["status"] == Entry("failed", (f"failed in measure: {reason}",))
    assert (row["step time"].text, row["n"].text) == ("–", "–")


def test_a_ratio_that_others_diluted_says_why_it_is_not_equivalent(long_study):
    """All turns but the first of a cell's processes waited for somebody else, in four rounds of ten."""
    others = lambda r: {str(turn): "x" for turn in r.sample_turn if turn and r.round < 4}  # noqa: E731
    long_study.change("jax:jit", "mlp-train", disturbed=others)
    (note,) = [n for n in detail_row(long_study, "jax:jit", "mlp-train")["ratio"].notes if "equivalent" in n]
    assert note.startswith(
        "not called equivalent, nor different below 1%: in 40% of the pairs other processes used the processors"
    )
    notes = detail_row(long_study, "torch2:eager", "mlp-train")["ratio"].notes
    assert not any("not called" in note for note in notes)


def test_threads_that_wait_in_most_turns_are_told(long_study):
    """Nothing is disturbed, as they might wait for each other."""
    long_study.change("jax:jit", "mlp-train", sample_cpu_ns=[], sample_wait_ns=lambda r: list(r.sample_ns))
    long_study.change("torch2:eager", "mlp-train", sample_cpu_ns=[], sample_wait_ns=lambda r: [0] * len(r.sample_ns))
    notes = detail_row(long_study, "jax:jit", "mlp-train")["step time"].notes
    assert "CPU contention: threads waited 50% of the time (median)" in notes
    assert not detail_row(long_study, "torch2:eager", "mlp-train")["step time"].notes
