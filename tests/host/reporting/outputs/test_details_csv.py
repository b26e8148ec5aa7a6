from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from bench.host.reporting import report
from bench.host.reporting.outputs import details_csv


def read(study) -> list[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        (path,) = details_csv.write(report.make(study.records, study.manifest), Path(folder))
        return list(csv.DictReader(io.StringIO(path.read_text())))


def test_every_cell_has_a_row_with_every_field(short_study):
    rows = read(short_study)
    assert len(rows) == len(short_study.cells)
    assert all(list(row) == list(details_csv.FIELDS) and None not in row.values() for row in rows)


def test_numbers_are_plain_and_in_si_units(long_study):
    row = next(row for row in read(long_study) if row["workload"] == "mlp-train" and row["mode"] == "compile")
    assert float(row["step_low_s"]) < float(row["step_s"]) < float(row["step_high_s"])
    assert float(row["step_s"]) == pytest.approx(0.71 * 1.2e-3, rel=0.2)
    assert float(row["throughput_per_s"]) == pytest.approx(64 / float(row["step_s"]))
    assert float(row["throughput_low_per_s"]) == pytest.approx(64 / float(row["step_high_s"]))
    assert (row["pairs"], row["verdict"], row["peak_bytes"]) == ("10", "different", str(150.0 * 2**20))
    assert row["first_call_cold_s"] == "11.3"


def test_reasons_are_whole_in_the_file(short_study):
    long = "word " * 200 + "end"
    short_study.end("jax:eager", "mlp-train", "failed", "build", long)
    row = next(row for row in read(short_study) if row["workload"] == "mlp-train" and row["reason"] == long)
    assert (row["status"], row["stage"], row["step_s"]) == ("failed", "build", "")


def test_imports_that_shared_the_processors_stand_apart(long_study):
    long_study.records = [
        replace(r, import_s=1.0 + r.round, import_alone=r.round == 0 and r.cell.environment != "jax")
        for r in long_study.records
    ]
    rows = read(long_study)
    assert {(row["import_alone_s"], row["import_shared_s"]) for row in rows if row["environment"] != "jax"} == {
        ("1.0", "6.0")
    }
    assert {(row["import_alone_s"], row["import_shared_s"]) for row in rows if row["environment"] == "jax"} == {
        ("", "5.5")
    }


def test_large_spreads_and_the_ratios_to_them_are_told(long_study):
    long_study.disturb("torch1:eager", "mlp-train")
    rows = {(row["environment"], row["mode"], row["workload"]): row for row in read(long_study)}
    baseline, other = rows["torch1", "eager", "mlp-train"], rows["jax", "jit", "mlp-train"]
    assert baseline["large_spread"].startswith("large spread: in 1 of 10 processes")
    assert (baseline["cpu_per_wall"], baseline["baseline_irregular"]) == ("2.0", "")
    assert float(other["cpu_s"]) == pytest.approx(2.0 * float(other["step_s"]), rel=0.05)
    assert (other["large_spread"], other["baseline_irregular"]) == ("", "true")
    assert rows["jax", "jit", "dispatch"]["baseline_irregular"] == "false"


def test_only_single_steps_have_a_latency(long_study):
    times = [1_000_000] * 98 + [3_000_000] * 2
    single = {"sample_steps": [1] * 100, "sample_turn": list(range(100))}
    long_study.change("jax:jit", "mlp-train", sample_ns=times, sample_cpu_ns=times, **single)
    rows = [row for row in read(long_study) if row["latency_p50_s"]]
    assert [(row["environment"], row["workload"]) for row in rows] == [("jax", "mlp-train")]
    assert [float(rows[0][name]) for name in ("latency_p50_s", "latency_p99_s")] == pytest.approx([0.001, 0.003])


def test_the_twin_has_rows_of_its_own_and_no_verdict(long_study):
    long_study.add_twin()
    rows = [row for row in read(long_study) if row["environment"] == "torch1~twin"]
    assert len(rows) == 3
    assert all((row["pairs"], row["verdict"]) == ("10", "") for row in rows)
    assert float(rows[0]["noise_floor"]) > 0


def test_what_was_seen_beside_the_times_is_in_the_file(long_study):
    long_study.change(
        "torch2:compile",
        "mlp-train",
        disturbed={"1": "a guest"},
        frequency_mhz=[1200.0, 3100.0],
        gpu_frequency_mhz=[1400.0, 1980.0],
        gpu_clock_limits={"power cap": 2},
        compilation={"compiled": "forward", "graphs": 2, "graph_breaks": 1, "graph_break_reasons": ["print"]},
    )
    long_study.run["profile"]["samples"] = 3
    rows = {(row["environment"], row["mode"], row["workload"]): row for row in read(long_study)}
    row = rows["torch2", "compile", "mlp-train"]
    untouched = rows["jax", "jit", "mlp-train"]
    assert (untouched["warm_up"], untouched["warm_up_agreeing"], untouched["early_samples"]) == ("flat", "10", "0")
    assert (row["lowest_mhz"], row["highest_mhz"], untouched["lowest_mhz"]) == ("1200.0", "3100.0", "")
    assert (row["gpu_lowest_mhz"], row["gpu_highest_mhz"]) == ("1400.0", "1980.0")
    assert (row["gpu_clock_limits"], untouched["gpu_clock_limits"]) == ("power cap: 20", "")
    assert (row["turns"], row["disturbed_turns"], row["left_out_turns"], row["repeated_turns"]) == (
        "40",
        "10",
        "10",
        "10",
    )
    assert (row["compiled"], row["graphs"], row["graph_breaks"], row["graph_break_reasons"]) == (
        "forward", "2", "1", '["print"]',
    )  # fmt: skip
    assert (row["traces"], row["recompiled_while_timing"]) == ("", "0")
    assert float(row["break_even_steps"]) == pytest.approx(11.26 / (1.2e-3 * 0.29), rel=0.2)
    assert rows["jax", "eager", "mlp-train"]["break_even_steps"] == "inf"
    assert float(row["flops_per_s"]) == pytest.approx(1e8 / float(row["step_s"]))
    assert float(row["deciding_low"]) < float(row["ratio"]) < float(row["deciding_high"])
    assert row["tail_verdict"] == "different"
    assert float(row["tail_ratio"]) == pytest.approx(0.71, abs=0.02)
