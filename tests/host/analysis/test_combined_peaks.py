"""Tests how the peaks of several frameworks are combined and compared with a record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bench.cell import MIXED, Cell
from bench.host.analysis.peaks import Peak, combine, implausible
from bench.record import Record

CELL = Cell("torch1", "torch", "eager", "mlp-train", "tiny", "float32", "cpu", 2)
MEASURED: dict[str, Any] = {
    "torch1/cpu": {"flops_per_s": {"float32": 1e9}, "bandwidths": [[1000, 5e9], [100000, 1e9]]},
    "jax/cpu": {"flops_per_s": {"float32": 3e9}, "bandwidths": [[1000, 2e9], [100000, 2e9]]},
    "tf2/cpu": {"reason": "failed: boom"},
    "jax/gpu": {"flops_per_s": {"float32": 9e12}, "bandwidths": []},
}


def record(step_ns: int, flops: float = 1e6, size: float = 1e3) -> Record:
    work = {"useful_flops": flops, "compulsory_bytes": size}
    return Record(CELL, 0, 1, "ok", sample_ns=[step_ns * 10], sample_steps=[10], work=work)


def test_the_peak_is_the_best_of_all_frameworks_on_the_device():
    peak = combine(MEASURED, "cpu", "float32")
    assert peak == Peak(3e9, ((1000, 5e9), (100000, 2e9)))
    assert combine(MEASURED, "cpu", "bfloat16").flops_per_s is None


def test_the_peak_of_mixed_precision_is_the_higher_of_both_that_it_computes_in():
    measured = {
        "torch2/cpu": {"flops_per_s": {"float32": 1e9, "bfloat16": 4e9}, "bandwidths": []},
        "jax/cpu": {"flops_per_s": {"float32": 3e9, "bfloat16": 2e9}, "bandwidths": []},
    }
    assert combine(measured, "cpu", MIXED).flops_per_s == 4e9
    assert combine({"jax/cpu": measured["jax/cpu"]}, "cpu", MIXED).flops_per_s == 3e9


def test_the_peak_of_a_cell_is_that_of_as_many_threads():
    one = {"threads": 1, "flops_per_s": {"float32": 2e9}, "bandwidths": []}
    tracks = {"jax/cpu": {**MEASURED["jax/cpu"], "threads": 2}, "jax/cpu/1": one}
    assert [combine(tracks, "cpu", "float32", count).flops_per_s for count in (1, 2)] == [2e9, 3e9]
    assert combine(tracks, "cpu", "float32").flops_per_s == 3e9
    assert combine(MEASURED, "cpu", "float32", 1).flops_per_s == 3e9, "an older run does not say the threads"


def test_a_record_faster_than_the_machine_is_implausible():
    # A million operations at three billion a second take 333 µs.
    assert "faster than this machine can be" in str(implausible(record(100_000), MEASURED))
    assert implausible(record(400_000), MEASURED) is None


def test_nothing_is_implausible_where_nobody_knows_the_peak():
    assert implausible(record(1), {}) is None
    assert implausible(replace(record(1), status="failed"), MEASURED) is None


def test_a_cell_in_tf32_is_held_against_the_peak_of_tf32():
    both = {"jax/gpu": {"flops_per_s": {"float32": 3e9, "tf32": 6e9}, "bandwidths": []}}
    cell = replace(CELL, device="gpu", precision="tf32")
    settings = {"float32 matmul": "tf32"}
    assert implausible(replace(record(200_000), cell=cell, settings=settings), both) is None
    assert "faster than this machine can be" in str(implausible(replace(record(100_000), cell=cell), both))
    loose = replace(record(200_000), cell=replace(cell, precision="float32"), settings=settings)
    assert implausible(loose, both) is None, "the mode says that its products are in TF32"


def test_a_mode_that_computes_float32_in_a_shorter_precision_is_held_against_the_peak_of_that():
    fast = replace(record(100_000), settings={"float32 matmul": "bf16"})
    assert implausible(fast, MEASURED) is None, "its peak was not measured"
    both = {"jax/cpu": {"flops_per_s": {"float32": 3e9, "bfloat16": 6e9}, "bandwidths": []}}
    assert implausible(replace(record(200_000), settings={"float32 matmul": "bf16"}), both) is None
    assert "faster than this machine can be" in str(implausible(fast, both))
    assert "faster than this machine can be" in str(implausible(record(200_000), both))


def test_two_gpus_have_twice_the_peak_of_one_and_two_parts_of_a_processor_that_of_the_processor():
    assert Peak(1e9, ((1000, 2e9),)).of(2) == Peak(2e9, ((2000, 4e9),))
    assert Peak(None, ()).of(2) == Peak(None, ())
    both = {key: {"flops_per_s": {"float32": 3e9}, "bandwidths": []} for key in ("jax/gpu", "jax/cpu")}
    fast, settings = record(200_000), {"devices": 2}
    on_gpu = replace(fast, cell=replace(CELL, device="gpu"))
    assert implausible(on_gpu, both)
    assert implausible(replace(on_gpu, settings=settings), both) is None
    assert implausible(replace(fast, settings=settings), both)
