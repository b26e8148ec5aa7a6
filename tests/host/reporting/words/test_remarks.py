"""Tests the words below the tables: noise floor, verdicts, stops and the noise watch."""

from __future__ import annotations

import pytest
from study_reports import report_of


def remark(study, start: str, table: str = "details") -> str | None:
    remarks = getattr(report_of(study), table).remarks
    return next((remark for remark in remarks if remark.startswith(start)), None)


def test_the_noise_floor_stands_below_every_table_of_the_details(long_study):
    long_study.add_twin(factor=1.05)
    made = report_of(long_study)
    tables = (made.summary, made.details, made.costs, made.ranking)
    assert set(tables) < set(made.tables)
    found = {remark for table in tables for remark in table.remarks if remark.startswith("Noise floor")}
    assert all(any(remark.startswith("Noise floor") for remark in table.remarks) for table in tables)
    (text,) = found
    assert text.startswith("Noise floor: 99% of the ratios between identical cells lie within ")
    assert (
        "measured with the A/A twin of PyTorch 1.13 eager, 3 rows × 10 pairs. Of their 90% quantiles, within " in text
    )


def test_a_run_without_a_twin_says_so(long_study):
    assert remark(long_study, "Noise") == "Noise floor: not measured; the run has no A/A twin (profile quick)."


def test_a_twin_with_few_pairs_says_so(short_study):
    short_study.add_twin()
    assert remark(short_study, "Noise floor") == (
        "Noise floor: not known; the A/A twin of PyTorch 1.13 eager gives 3 pairs per row, and 8 are needed."
    )


def test_the_margin_of_equivalence_does_not_follow_the_noise(long_study):
    assert "lies within ±2%" in remark(long_study, "Verdicts")
    long_study.add_twin(factor=1.2)
    assert "lies within ±2%" in remark(long_study, "Verdicts")


def test_looks_are_told_and_so_is_their_lack(long_study):
    assert "looks" not in remark(long_study, "Verdicts")
    long_study.run["looks"] = [8, 10, 12]
    assert "The error is divided between looks after 8, 10 and 12 rounds." in remark(long_study, "Verdicts")
    long_study.run["looks"] = [12, 18]
    assert remark(long_study, "No verdicts") == (
        "No verdicts on the ratios: a verdict needs at least 8 pairs of processes, and more where the error is divided "
        "between looks; the first look is after 12 rounds."
    )


def test_ratios_without_a_verdict_beside_others_are_counted(long_study):
    long_study.end("jax:jit", "mlp-train", "failed", "measure", "boom", tuple(range(5)))
    assert remark(long_study, "Verdicts").endswith(
        "1 ratio has no verdict: a verdict needs at least 8 pairs of processes."
    )


def test_stops_are_counted_by_reason(long_study):
    assert remark(long_study, "Rounds") is None
    long_study.run["looks"] = [8, 10]
    reasons = [(8, "settled"), (10, "most rounds"), (9, "budget")]
    rows = dict.fromkeys(cell.row for cell in long_study.cells)
    long_study.run["stopped"] = {row: {"rounds": n, "why": why} for row, (n, why) in zip(rows, reasons, strict=True)}
    assert remark(long_study, "Rounds") == (
        "Rounds: 1 row was settled after 8 rounds; "
        "1 row used all rounds of the profile, 10 rounds (mlp-train/small/float32/cpu); "
        "1 row stopped after 9 rounds, when the time budget was spent (catdog-cnn-train/small/float32/cpu)."
    )


def test_rows_without_a_baseline_did_not_settle(long_study):
    long_study.run["looks"] = [10, 20]
    long_study.stop(10, "settled")
    long_study.run["study"]["baseline"] = "absent:eager"
    assert remark(long_study, "Rounds") == "Rounds: 3 rows had nothing to compare and stopped after 10 rounds."


def test_rows_that_settled_and_are_open_again_are_named(long_study):
    long_study.run["looks"] = [10, 20]
    long_study.stop(10, "settled")
    assert remark(long_study, "Rounds") == "Rounds: 3 rows were settled after 10 rounds."
    long_study.add_twin(factor=40.0)
    assert remark(long_study, "Rounds") == (
        "Rounds: 3 rows were settled after 10 rounds; cells of dispatch/small/float32/cpu, mlp-train/small/float32/cpu "
        "and catdog-cnn-train/small/float32/cpu were settled and became inconclusive: later rounds of others moved the "
        "noise floor or the correction, or a cell was given up."
    )


def test_others_beside_several_threads_are_told(long_study):
    long_study.change(sample_wait_ns=lambda record: [0] * len(record.sample_ns))
    long_study.change("jax:jit", other_load=0.26)
    long_study.change("torch2:eager", "mlp-train", other_load=1.04)
    assert remark(long_study, "Noise watch") == (
        "Noise watch: during 40 of 240 processes, which have several threads, other programs used more than 0.25 "
        "processors (at most 1.0)."
    )


def test_a_watch_that_sees_nothing_says_so(long_study):
    said = "Noise watch: {} of 240 processes were not watched: the kernel does not say how long they waited."
    assert remark(long_study, "Noise watch") == said.format(240)
    long_study.change(workload="mlp-train", sample_wait_ns=lambda record: [0] * len(record.sample_ns))
    assert remark(long_study, "Noise watch") == said.format(160)
    long_study.change(sample_wait_ns=lambda record: [0] * len(record.sample_ns))
    assert remark(long_study, "Noise watch") is None


@pytest.mark.parametrize(("turns", "fate"), [("1", "30 are left out"), ("012", "90 are kept, because too few")])
def test_disturbed_turns_are_counted(long_study, turns, fate):
    long_study.run["profile"]["samples"] = 3
    long_study.change(sample_wait_ns=lambda record: [0] * len(record.sample_ns))
    long_study.change(disturbed=dict.fromkeys(turns, "jax:jit waited 31% of it for a processor"))
    text = remark(long_study, "Noise watch")
    assert text.startswith(f"Noise watch: {30 * len(turns)} of 120 turns were disturbed: ")
    assert fate in text
    assert text.endswith("; 30 turns were added to repeat them.")
    notes = report_of(long_study).details.groups[0].heading.notes
    kept = [note for note in notes if "disturbed turns" in note]
    assert kept == (
        ["30 disturbed turns of 40 are part of these numbers, for example: jax:jit waited 31% of it for a processor"]
        if len(turns) == 3
        else []
    )


def test_classes_in_the_table_are_explained(long_study):
    text = remark(long_study, "Warm-up")
    assert "the number of processes. flat: steady from the first trial on; warm-up: slower at first." in text
    assert "slowdown" not in text


def test_turns_in_which_few_waited_are_told(long_study):
    """One cell of eight waits in one turn of each round: its own threads, or somebody else for a moment."""
    long_study.change(sample_wait_ns=lambda r: [0] * len(r.sample_ns), sample_cpu_ns=[])
    long_study.change("jax:jit", "mlp-train", sample_wait_ns=lambda r: [0, r.sample_ns[1]] + [0] * 10)
    turns = len({(r.cell.row, r.round, turn) for r in long_study.records for turn in r.sample_turn})
    assert remark(long_study, "Noise watch") == (
        f"Noise watch: 10 of {turns} turns may have been disturbed and count as undisturbed: at most half of the cells "
        "waited for a processor in them, for their own threads or for another program."
    )


def test_clocks_are_told(long_study):
    long_study.change("jax:jit", frequency_mhz=[1200.4, 3100.0])
    long_study.change("torch1:eager", frequency_mhz=[2000.0, 3200.0])
    assert "; processors ran at 1200 to 3200 MHz." in remark(long_study, "Noise watch")


def test_clocks_of_gpus_and_what_limited_them_are_told(long_study):
    long_study.change("jax:jit", "mlp-train", gpu_frequency_mhz=[1200.4, 1980.0], gpu_clock_limits={"power cap": 3})
    long_study.change("jax:jit", "dispatch", gpu_frequency_mhz=[1500.0, 1990.0], gpu_clock_limits={"power cap": 1})
    text = remark(long_study, "Noise watch")
    assert "; GPUs ran at 1200 to 1990 MHz" in text
    # In 10 processes of each, of 12 samples.
    assert text.endswith("; the clock of a GPU was limited in 40 of 240 samples: power cap.")


def test_rounds_of_rows_that_stopped_apart_are_told_as_a_range(long_study):
    long_study.records = [r for r in long_study.records if r.cell.workload != "dispatch" or r.round < 8]
    assert "8 to 10 rounds of fresh processes" in report_of(long_study).details.caption
