from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bench.host import report
from bench.host.statistics.roofline import implausible
from bench.host.tables.table import Entry, Table
from bench.record import FAILED, TIMEOUT


def tables(study) -> tuple[Table, Table]:
    made = report.make(study.records, study.run)
    return made.summary, made.details


def detail_row(study, column: str, workload: str) -> dict[str, Entry]:
    table = tables(study)[1]
    group = next(group for group in table.groups if group.heading.text.startswith(workload))
    row = next(row for row in group.rows if row[0].text == column)
    return dict(zip((column.title for column in table.columns), row, strict=True))


def summary_entry(study, column: str, workload: str) -> Entry:
    table = tables(study)[0]
    row = next(row for row in table.groups[0].rows if row[0].text.startswith(workload))
    return row[[known.title for known in table.columns].index(column)]


def test_summary_has_a_row_per_workload_and_a_column_per_environment_and_mode(short_study):
    table = tables(short_study)[0]
    assert [row[0].text for row in table.groups[0].rows] == ["dispatch", "mlp-train", "catdog-cnn-train"]
    assert [column.title for column in table.columns[2:]] == list(
        dict.fromkeys(cell.column for cell in short_study.cells)
    )


def test_what_all_rows_share_is_in_the_caption_and_what_differs_in_the_row(long_study):
    assert "(small, float32, cpu, 2 threads)" in tables(long_study)[0].caption
    tiny = [replace(r, cell=replace(r.cell, size="tiny")) for r in long_study.records if r.cell.workload == "dispatch"]
    long_study.records += tiny
    table = tables(long_study)[0]
    assert "(float32, cpu, 2 threads)" in table.caption
    assert "dispatch, tiny" in [row[0].text for row in table.groups[0].rows]


@pytest.mark.parametrize(
    ("column", "workload", "status", "note"),
    [
        ("torch2:compile", "dispatch", "timeout", "timeout in first-call: no answer in 300 s"),
        ("tf2:xla", "mlp-train", "mismatch", "mismatch in check: loss errs by 3.1e-2; 1e-5 is allowed"),
        (
            "torch1:torchscript",
            "catdog-cnn-train",
            "excluded",
            "excluded by the study: the published study did not use it",
        ),
        ("jax:jit", "catdog-cnn-train", "not run", "planned, but not run: the run ended before it"),
    ],
)
def test_a_cell_without_a_number_shows_its_status_and_the_reason(short_study, column, workload, status, note):
    assert summary_entry(short_study, column, workload) == Entry(status, (note,))
    row = detail_row(short_study, column, workload)
    assert row["status"] == Entry(status, (note,))
    assert row["step time"].text == "–"


def test_processes_that_ended_badly_are_counted(short_study):
    row = detail_row(short_study, "tf2:eager", "dispatch")
    (note,) = row["status"].notes
    assert note == "2 of 3 processes ok; failed in measure: killed by SIGSEGV; last words: [core] <dumped>"
    assert row["n"].text == "2×12"


def test_a_failed_baseline_is_the_reason_for_a_missing_ratio(long_study):
    long_study.end("torch1:eager", "mlp-train", TIMEOUT, "build", "300 s passed")
    row = detail_row(long_study, "jax:jit", "mlp-train")
    assert row["ratio"] == Entry("–", ("no ratio: the baseline's status is timeout",))
    assert row["step time"].text != "–"


def test_a_row_without_the_baseline_says_so(long_study):
    long_study.drop("torch1:eager", "mlp-train")
    long_study.run["planned"].remove(long_study.find("torch1:eager", "mlp-train").to_json())
    row = detail_row(long_study, "jax:jit", "mlp-train")
    assert row["ratio"].notes == ("no ratio: the baseline is not part of this row",)


def test_a_run_without_the_baseline_has_no_ratios_and_says_so(long_study):
    long_study.run["study"]["baseline"] = "torch0:eager"
    summary, details = tables(long_study)
    assert "ratio" not in [column.title for column in details.columns]
    for table in (summary, details):
        assert "No ratios: the baseline torch0:eager is not part of this run." in table.remarks
        assert "ratio to" not in table.caption
        assert not any("baseline" in note for note in table.marks)


def test_one_process_has_neither_interval_nor_warm_call(long_study):
    long_study.records = [record for record in long_study.records if record.round == 0]
    titles = [column.title for column in tables(long_study)[1].columns]
    assert "interval" not in titles
    assert "warm call" not in titles
    assert "step time" in titles
    assert any("One process gives none" in remark for remark in tables(long_study)[1].remarks)


def test_units_are_those_of_what_is_shown(short_study):
    for cell in short_study.cells:
        if cell.workload == "mlp-train":
            short_study.drop(cell.column, cell.workload)
    assert not any(tables(short_study)[1].groups[1].units[:4])


def test_baseline_has_the_ratio_one(long_study):
    assert detail_row(long_study, "torch1:eager", "mlp-train")["ratio"] == Entry("1")


def test_differing_settings_become_a_note_of_their_row(long_study):
    group = tables(long_study)[1].groups[1]
    assert group.heading.notes == ("settings differ: instruction set is AVX2 in torch1, AVX512 in torch2, tf2 and jax",)


def test_a_setting_that_differs_between_modes_names_the_columns(long_study):
    long_study.records = [
        replace(r, settings={"fused": r.cell.mode == "compile"} if r.cell.environment == "torch2" else {})
        for r in long_study.records
    ]
    assert tables(long_study)[1].groups[1].heading.notes == (
        "settings differ: fused is False in torch2:eager, True in torch2:compile",
    )


def test_settings_that_only_one_framework_has_are_no_difference(long_study):
    long_study.records = [replace(r, settings={r.cell.environment: r.cell.mode[0]}) for r in long_study.records]
    long_study.records = [r for r in long_study.records if r.cell.mode in ("eager",)]
    assert not any(
        note.startswith("settings") for group in tables(long_study)[1].groups for note in group.heading.notes
    )


def test_caption_tells_the_conditions(short_study):
    for table in tables(short_study):
        for told in ("Profile quick", "3 rounds", "AMD EPYC 7B13", "cpu", "2 threads", "2026-11-21", "torch1:eager"):
            assert told in table.caption + table.groups[0].heading.text
        assert "Partial: the run has not finished." in table.caption


def test_few_processes_are_told(short_study, long_study):
    assert any("at most 50%" in remark for remark in tables(short_study)[1].remarks)
    assert any("at least 8 pairs" in remark for remark in tables(short_study)[1].remarks)
    assert not any("at most" in remark or "at least" in remark for remark in tables(long_study)[1].remarks)
    assert any("over 21 comparisons" in remark for remark in tables(long_study)[1].remarks)


def test_versions_stand_below_the_summary(short_study):
    remark = tables(short_study)[0].remarks[-1]
    assert "torch1: torch 1.13.1, numpy 2.4.6, python 3.11.7" in remark


def test_long_reasons_are_cut_in_footnotes(short_study):
    short_study.end("jax:eager", "mlp-train", "failed", "build", "word " * 200)
    (note,) = detail_row(short_study, "jax:eager", "mlp-train")["status"].notes
    assert len(note) < 250
    assert note.endswith("word …")


@pytest.mark.parametrize("kept", [(), ("torch1:eager",)])
def test_tables_hold_together_without_results(short_study, kept):
    short_study.records = [r for r in short_study.records if r.cell.column in kept and r.round == 0]
    summary, details = tables(short_study)
    assert len(summary.groups[0].rows) == len(details.groups) == 3


UNSTEADY = (
    "unsteady: in 1 of 10 processes the middle half of the samples spans more than 25% of their median; "
    "in 1 of 10 processes the median of the samples is more than 2 times their 10% quantile; "
)
OF_UNSTEADY = "the baseline of this ratio is unsteady"


def test_an_unsteady_cell_is_marked_with_its_processor_time(long_study):
    long_study.disturb("jax:jit", "mlp-train")
    (note,) = detail_row(long_study, "jax:jit", "mlp-train")["step time"].notes
    assert note.startswith(UNSTEADY)
    assert re.search(r"; the slowest process took \d+\.\d times as long as the fastest; ", note)
    assert note.endswith("; processor time 2.0 × wall time")
    assert summary_entry(long_study, "jax:jit", "mlp-train").notes == (note,)
    for table in tables(long_study):
        assert [found for found in table.marks if "unsteady" in found] == [note]


def test_an_unsteady_baseline_is_told_at_every_ratio_of_its_row_alone(long_study):
    long_study.disturb("torch1:eager", "mlp-train")
    assert detail_row(long_study, "jax:jit", "mlp-train")["ratio"].notes == (OF_UNSTEADY,)
    assert summary_entry(long_study, "jax:jit", "mlp-train").notes == (OF_UNSTEADY,)
    baseline = detail_row(long_study, "torch1:eager", "mlp-train")
    assert baseline["step time"].notes[0].startswith(UNSTEADY)
    assert baseline["ratio"].notes == ()
    assert detail_row(long_study, "jax:jit", "dispatch")["ratio"].notes == ()


def test_records_without_processor_time_are_unsteady_without_it(long_study):
    long_study.disturb("jax:jit", "mlp-train")
    long_study.records = [replace(record, sample_cpu_ns=[]) for record in long_study.records]
    (note,) = detail_row(long_study, "jax:jit", "mlp-train")["step time"].notes
    assert note.startswith(UNSTEADY)
    assert "processor time" not in note


@pytest.mark.parametrize(("cache", "told"), [("kept", True), ("cold", False)])
def test_a_kept_compilation_cache_is_told_beside_the_first_calls(long_study, cache, told):
    long_study.run["profile"]["compile_cache"] = cache
    costs = report.make(long_study.records, long_study.run).costs
    found = [remark for remark in costs.remarks if "share compiled code" in remark]
    assert bool(found) is told
    assert all("profile standard measures it with empty caches" in remark for remark in found)


def test_a_tail_with_another_verdict_becomes_a_note(long_study):
    long_study.change(
        "torch2:eager",
        "mlp-train",
        sample_ns=lambda r: [round(ns / 1.07 * (2 if i % 6 == 0 else 1)) for i, ns in enumerate(r.sample_ns)],
    )
    (note,) = detail_row(long_study, "torch2:eager", "mlp-train")["ratio"].notes
    assert re.fullmatch(r"90% quantiles: ratio \d\.\d+ \[\d\.\d+, \d\.\d+\], different", note)
    assert note in summary_entry(long_study, "torch2:eager", "mlp-train").notes
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
    assert row["ratio"] == Entry(
        "–", ("--strict: no ratio, as instruction set is AVX512 here and AVX2 in the baseline",)
    )
    assert row["step time"].text != "–"
    assert "(" not in summary_entry(long_study, "jax:jit", "mlp-train").text
    for table in tables(long_study):
        assert any(
            remark.startswith("--strict: cells that differ from the baseline's in a") for remark in table.remarks
        )


def test_the_twin_is_no_column_and_no_row(long_study):
    before = tables(long_study)
    long_study.add_twin()
    for old, new in zip(before, tables(long_study), strict=True):
        assert [column.title for column in new.columns] == [column.title for column in old.columns]
        assert [len(group.rows) for group in new.groups] == [len(group.rows) for group in old.groups]
        assert not any("twin" in note for note in new.marks)


def test_the_class_of_the_warm_up_is_shown(long_study):
    assert detail_row(long_study, "jax:jit", "mlp-train")["warm-up"].text == "flat 10"


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
        r"not steady at first: \d+ samples before the processes' steady state are left out; "
        r"with them the median would be \d+\.\d% longer",
        note,
    )


def test_compiling_while_timing_is_told_at_the_time_and_at_ratios_to_it(long_study):
    long_study.change("torch1:eager", "mlp-train", compilation={"recompiled_while_timing": 1})
    (note,) = detail_row(long_study, "torch1:eager", "mlp-train")["step time"].notes
    assert note == "suspect: recompiled 10× while timing, in 10 of 10 processes"
    assert detail_row(long_study, "jax:jit", "mlp-train")["ratio"].notes == (OF_UNSTEADY,)


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
    """All turns but the first of a cell's processes waited for somebody else, in eight rounds of ten."""
    others = lambda r: {str(turn): "x" for turn in r.sample_turn if turn and r.round < 8}  # noqa: E731
    long_study.change("jax:jit", "mlp-train", disturbed=others)
    (note,) = [n for n in detail_row(long_study, "jax:jit", "mlp-train")["ratio"].notes if "equivalent" in n]
    assert note.startswith(
        "never called equivalent, nor different below 1%: in 80% of its pairs others had the processor"
    )
    notes = detail_row(long_study, "torch2:eager", "mlp-train")["ratio"].notes
    assert not any("never called" in note for note in notes)


def test_threads_that_wait_in_most_turns_are_told(long_study):
    """Nothing is disturbed, as they might wait for each other."""
    long_study.change("jax:jit", "mlp-train", sample_cpu_ns=[], sample_wait_ns=lambda r: list(r.sample_ns))
    long_study.change("torch2:eager", "mlp-train", sample_cpu_ns=[], sample_wait_ns=lambda r: [0] * len(r.sample_ns))
    notes = detail_row(long_study, "jax:jit", "mlp-train")["step time"].notes
    expected = (
        "in half of the turns threads waited 50% of the time or more for a processor: for each other or for somebody"
    )
    assert [note for note in notes if note.startswith(expected)]
    assert not detail_row(long_study, "torch2:eager", "mlp-train")["step time"].notes


def test_spreads_between_and_within_processes_are_shown(long_study):
    between, within = detail_row(long_study, "jax:jit", "mlp-train")["spread"].text.split(" / ")
    assert float(between) > 1.0
    assert 0.0 < float(within) < float(between)
