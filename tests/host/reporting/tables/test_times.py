from __future__ import annotations

from dataclasses import replace

import pytest
from study_reports import detail_row, name_of, report_of, summary_entry, tables

from bench.host.reporting.tables.table import Entry


def test_summary_has_a_row_per_workload_and_a_column_per_environment_and_mode(short_study):
    table = tables(short_study)[0]
    assert [row[0].text for row in table.groups[0].rows] == ["dispatch", "mlp-train", "catdog-cnn-train"]
    columns = dict.fromkeys(cell.column for cell in short_study.cells)
    assert [column.named for column in table.columns[2:]] == [name_of(short_study, column) for column in columns]
    assert table.columns[2].title == "PyTorch\n1.13\neager"


def test_what_all_rows_share_is_in_the_caption_and_what_differs_in_the_row(long_study):
    assert "(small, float32, cpu, 2 threads)" in tables(long_study)[0].caption
    long_study.records += [replace(r, cell=replace(r.cell, size="tiny")) for r in long_study.records]
    table = tables(long_study)[0]
    assert "(float32, cpu, 2 threads)" in table.caption
    names = [row[0].text for row in table.groups[0].rows]
    assert {"dispatch, small", "dispatch, tiny"} < set(names)


def test_a_row_is_named_by_what_most_rows_do_not_have(long_study):
    tiny = {"size": "tiny", "threads": 1}
    for cell in [cell for cell in long_study.cells if cell.workload == "dispatch"]:
        long_study.change(cell.column, "dispatch", cell=replace(cell, **tiny))
    long_study.run["planned"] = []
    table = tables(long_study)[0]
    assert "(small, float32, cpu, 2 threads, unless a row says otherwise)" in table.caption
    assert [row[0].text for row in table.groups[0].rows] == [
        "dispatch, tiny, 1 thread",
        "mlp-train",
        "catdog-cnn-train",
    ]


def test_details_show_the_processor_time_of_a_step_and_the_processors_it_keeps_busy(long_study):
    long_study.change(sample_cpu_ns=lambda r: [round(1.5 * ns) for ns in r.sample_ns])
    details = tables(long_study)[1]
    entry, step = (detail_row(long_study, "torch1:eager", "mlp-train")[name].text for name in ("CPU", "step time"))
    number, used = entry.split()
    assert used == "(1.5)"
    assert float(number) == pytest.approx(1.5 * float(step), rel=0.05)
    assert any(text.startswith("CPU: processor time of one step, summed over threads") for text in details.remarks)


def test_a_run_without_processor_times_has_no_column_for_them(long_study):
    long_study.change(sample_cpu_ns=[])
    details = tables(long_study)[1]
    assert "CPU" not in [column.title for column in details.columns]
    assert not any(text.startswith("CPU:") for text in details.remarks)


def test_details_show_the_latency_of_steps_that_were_timed_one_by_one(long_study):
    assert "p50 / p99" not in [column.title for column in tables(long_study)[1].columns]
    times = [1_000_000] * 98 + [3_000_000] * 2
    one_by_one(long_study, "mlp-train", times)
    details = tables(long_study)[1]
    assert detail_row(long_study, "torch1:eager", "mlp-train")["p50 / p99"].text == "1.00 / 3.00"
    assert detail_row(long_study, "torch1:eager", "dispatch")["p50 / p99"].text == "–"
    assert any(text.startswith("p50 / p99: median and 99% quantile of steps") for text in details.remarks)


def test_the_throughput_at_a_latency_bound_is_that_of_the_best_size_that_keeps_it(long_study):
    assert report_of(long_study).latency is None
    one_by_one(long_study, "mlp-train", [1_000_000] * 98 + [12_000_000] * 2)
    # A size with 10 times as many items per step, of 4 ms, which keeps no bound below 50 ms.
    whole = [record for record in long_study.records if record.cell.workload == "mlp-train"]
    times = [4_000_000] * 98 + [30_000_000] * 2
    long_study.records += [
        replace(
            record,
            cell=replace(record.cell, size="medium"),
            work={**record.work, "items": 10 * record.work["items"]},
            sample_ns=times if record.sample_ns else [],
            sample_cpu_ns=times if record.sample_ns else [],
        )
        for record in whole
    ]
    found = report_of(long_study).latency
    assert [column.title for column in found.columns] == ["framework and mode", "p99 ≤ 20 ms", "p99 ≤ 50 ms"]
    (group,) = found.groups
    assert group.heading.text == "mlp-train"
    row = next(row for row in group.rows if row[0].text == "PyTorch 1.13 eager")
    one, ten = (entry.text.split(" ") for entry in row[1:])
    assert (one[1], ten[1]) == ("(small)", "(medium)")
    assert float(ten[0]) == pytest.approx(2.5 * float(one[0]), rel=0.02)


def test_a_disturbed_cell_has_no_throughput_at_a_latency_bound(long_study):
    one_by_one(long_study, "mlp-train", [1_000_000] * 98 + [12_000_000] * 2)
    before = report_of(long_study).latency
    long_study.change("torch1:eager", "mlp-train", other_load=0.9)
    after = report_of(long_study).latency
    named = [{row[0].text for row in table.groups[0].rows} for table in (before, after)]
    assert named[0] - named[1] == {"PyTorch 1.13 eager"}
    assert after.remarks[-1] == "1 cell that other programs disturbed is left out."


def one_by_one(study, workload, times):
    """Let each sample of a workload be a single step."""
    samples = {"sample_ns": times, "sample_cpu_ns": times, "sample_steps": [1] * len(times)}
    study.change(None, workload, **samples, sample_turn=list(range(len(times))))


@pytest.mark.parametrize(
    ("column", "workload", "status", "note"),
    [
        ("torch2:compile", "dispatch", "timeout", "timeout in first-call: no answer in 300 s"),
        ("tf2:xla", "mlp-train", "mismatch", "mismatch in check: loss errs by 3.1e-2; 1e-5 is allowed"),
        (
            "torch1:torchscript",
            "catdog-cnn-train",
            "excluded",
            "not measured: the published study did not use it",
        ),
        ("jax:jit", "catdog-cnn-train", "not run", "not measured: the run ended before this cell"),
    ],
)
def test_a_cell_without_a_number_shows_its_status_and_the_reason(short_study, column, workload, status, note):
    assert summary_entry(short_study, column, workload) == Entry(status, (note,))
    row = detail_row(short_study, column, workload)
    assert row["status"] == Entry(status, (note,))
    assert row["step time"].text == "–"


@pytest.mark.parametrize("column", ["jax:jit", "torch1:eager"])
def test_a_disturbed_time_is_withheld_and_so_is_a_ratio_to_it(long_study, column):
    long_study.change(column, "mlp-train", other_load=0.9)
    note = "disturbed: other programs were computing, so the time is not compared"
    assert summary_entry(long_study, column, "mlp-train") == Entry("-", (note,))
    row = detail_row(long_study, column, "mlp-train")
    assert (row["status"].text, row["status"].alarm, row["ratio"]) == ("disturbed", True, Entry("–"))
    assert row["step time"].text != "–", "the details have what was measured"
    beside = detail_row(long_study, "torch2:eager", "mlp-train")
    assert (beside["ratio"].text == "–") is (column == "torch1:eager")
    assert beside["status"] == Entry("ok")


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
    assert any("a single process gives none" in remark for remark in tables(long_study)[1].remarks)


def test_units_are_those_of_what_is_shown(short_study):
    for cell in short_study.cells:
        if cell.workload == "mlp-train":
            short_study.drop(cell.column, cell.workload)
    assert not any(tables(short_study)[1].groups[1].units[:4])


def test_baseline_has_the_ratio_one(long_study):
    assert detail_row(long_study, "torch1:eager", "mlp-train")["ratio"] == Entry("1")


def test_caption_tells_the_conditions(short_study):
    for table in tables(short_study):
        for told in (
            "Profile quick",
            "3 rounds",
            "AMD EPYC 7B13",
            "cpu",
            "2 threads",
            "2026-11-21",
            "PyTorch 1.13 eager",
        ):
            assert told in table.caption + table.groups[0].heading.text
        assert "Partial: the run has not finished." in table.caption


def test_few_processes_are_told(short_study, long_study):
    assert any("With fewer than 6 processes: Student's" in remark for remark in tables(short_study)[1].remarks)
    assert any("at least 8 pairs" in remark for remark in tables(short_study)[1].remarks)
    assert not any("Student" in remark or "at least" in remark for remark in tables(long_study)[1].remarks)
    assert any("over 21 comparisons" in remark for remark in tables(long_study)[1].remarks)


def test_what_options_call_a_framework_and_its_versions_stand_below_the_details(short_study):
    remark = tables(short_study)[1].remarks[-1]
    assert "torch1: PyTorch 1.13 (torch 1.13.1, numpy 2.4.6, python 3.11.7)" in remark


@pytest.mark.parametrize("kept", [(), ("torch1:eager",)])
def test_tables_hold_together_without_results(short_study, kept):
    short_study.records = [r for r in short_study.records if r.cell.column in kept and r.round == 0]
    summary, details = tables(short_study)
    assert len(summary.groups[0].rows) == len(details.groups) == 3


@pytest.mark.parametrize(("cache", "told"), [("kept", True), ("cold", False)])
def test_a_kept_compilation_cache_is_told_beside_the_first_calls(long_study, cache, told):
    long_study.run["profile"]["compile_cache"] = cache
    costs = report_of(long_study).costs
    found = [remark for remark in costs.remarks if "share compiled code" in remark]
    assert bool(found) is told
    assert all("Profile standard measures first calls with empty caches" in remark for remark in found)


def test_the_twin_is_no_column_and_no_row(long_study):
    before = tables(long_study)
    long_study.add_twin()
    for old, new in zip(before, tables(long_study), strict=True):
        assert [column.title for column in new.columns] == [column.title for column in old.columns]
        assert [len(group.rows) for group in new.groups] == [len(group.rows) for group in old.groups]
        assert not any("twin" in note for note in new.marks)


def test_the_class_of_the_warm_up_is_shown(long_study):
    assert detail_row(long_study, "jax:jit", "mlp-train")["warm-up"].text == "flat 10"


def test_spreads_between_and_within_processes_are_shown(long_study):
    between, within = detail_row(long_study, "jax:jit", "mlp-train")["spread"].text.split(" / ")
    assert float(between) > 1.0
    assert 0.0 < float(within) < float(between)
