"""Tests what only a GPU shows: synchronisation, memory, TF32, CUDA graphs, energy, and workers that are forked.

They need an NVIDIA GPU, and an interpreter whose PyTorch and JAX use it, which BENCHMATRIX_GPU_PYTHON names.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path

import pytest

from bench.cell import MIXED
from bench.host.machine.energy import PowerMeter, gpu_counter
from bench.host.machine.gpu import Gpus

PYTHON = os.environ.get("BENCHMATRIX_GPU_PYTHON")
ROOT = Path(__file__).resolve().parents[2]
#: A product of gemm/medium, 1024 rows and columns: its matrices, and its operations.
MATRIX_BYTES, PRODUCT_FLOPS = 1024**2 * 4, 2 * 1024.0**3
#: What cuBLAS keeps for itself at most.
WORKSPACE_BYTES = 64 << 20
#: No GPU does so many float32 operations a second without TF32.
MOST_FLOPS_PER_S = 2e14
#: A product whose factors have 11 bits errs by more, relatively.
TF32_ERRS = 2.0**-14

ENVIRON = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(PYTHON is None, reason="BENCHMATRIX_GPU_PYTHON names no interpreter")]
frameworks = pytest.mark.parametrize(("framework", "mode"), [("torch", "eager"), ("jax", "jit")])


@functools.cache
def messages(
    fault: str, framework: str, mode: str, workload: str = "gemm", size: str = "medium", precision: str = "float32"
) -> list[dict]:
    command = [PYTHON, "-W", "ignore", str(Path(__file__).with_name("one_cell.py"))]
    done = subprocess.run(
        [*command, fault, framework, mode, workload, size, precision], capture_output=True, text=True, env=ENVIRON
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def last(*cell: str) -> dict:
    return messages(*cell)[-1]


def step_s(found: list[dict]) -> float:
    turn = next(message for message in found if message["event"] == "turn")
    return min(ns / steps for ns, steps in zip(turn["sample_ns"], turn["sample_steps"], strict=True)) / 1e9


@frameworks
def test_a_product_takes_as_long_as_the_gpu_needs(framework, mode):
    found = messages("none", framework, mode)
    assert found[-1]["event"] == "finished", found[-1]
    assert found[-1]["settings"]["dispatch"] == "asynchronous"
    assert PRODUCT_FLOPS / MOST_FLOPS_PER_S < step_s(found) < 0.1


def test_without_synchronisation_the_cell_fails_instead_of_being_fast():
    ended = last("never-wait", "torch", "eager")
    assert (ended["event"], ended["status"]) == ("ended", "failed")


@pytest.mark.parametrize(("framework", "mode"), [("torch", "eager"), ("torch", "compile"), ("jax", "jit")])
@pytest.mark.parametrize("workload", ["gemm", "mlp-train"])
def test_planted_tf32_is_a_mismatch(framework, mode, workload):
    ended = last(f"tf32-{framework}", framework, mode, workload, "small")
    assert (ended["event"], ended.get("status")) == ("ended", "mismatch"), ended


@pytest.mark.parametrize(("framework", "mode"), [("torch", "eager"), ("torch", "compile"), ("jax", "jit")])
@pytest.mark.parametrize("workload", ["gemm", "batched-gemm", "conv2d", "attention-full", "transformer-encoder", "gpt"])
def test_a_cell_in_tf32_computes_in_tf32(framework, mode, workload):
    found = messages("none", framework, mode, workload, "small", "tf32")
    assert found[-1]["event"] == "finished", found[-1]
    settings = found[-1]["settings"]
    assert (settings["float32 matmul"], settings["TF32 matmul"], settings["TF32 convolution"]) == ("tf32", True, True)
    if workload == "gemm":
        # Full float32 would err by 2^-20 at most.
        (check,) = (message["check"] for message in found if message["event"] == "prepared")
        assert min(each["error"] for each in check.values()) > TF32_ERRS


def test_a_product_in_tf32_takes_less_time_than_one_in_float32():
    times = [step_s(messages("none", "torch", "eager", "gemm", "large", name)) for name in ("float32", "tf32")]
    assert times[1] < 0.7 * times[0]


def test_a_cell_in_tf32_whose_products_are_float32_fails():
    ended = last("float32-torch", "torch", "eager", "gemm", "small", "tf32")
    assert (ended["event"], ended["status"]) == ("ended", "failed")
    assert "TF32 was asked for, and products are in highest" in ended["reason"]


@frameworks
@pytest.mark.parametrize("workload", ["gemm", "conv2d", "attention-full", "gpt", "resnet18", "layernorm-softmax"])
def test_float16_agrees_with_float64(framework, mode, workload):
    assert last("none", framework, mode, workload, "small", "float16")["event"] == "finished"


@frameworks
@pytest.mark.parametrize("workload", ["mlp-train", "lenet-train", "transformer-train", "resnet18-train"])
def test_training_in_mixed_precision_agrees_with_what_bfloat16_lets_it_be(framework, mode, workload):
    found = last("none", framework, mode, workload, "tiny", MIXED)
    assert found["event"] == "finished", found
    assert found["settings"]["float32 matmul"] == "bf16"


@pytest.mark.parametrize(
    ("workload", "precision"),
    [
        *((workload, "bfloat16") for workload in ("attention-full", "attention-causal", "transformer-encoder", "gpt")),
        ("attention-causal", "float16"),
        ("transformer-train", MIXED),
    ],
)
def test_attention_of_jax_in_16_bits_is_cudnns_and_agrees_with_float64(workload, precision):
    found = last("none", "jax", "jit", workload, "small", precision)
    assert found["event"] == "finished", found
    assert found["settings"]["attention"] == "fused"


def test_attention_of_jax_in_float32_is_composed():
    assert last("none", "jax", "jit", "attention-full", "small")["settings"]["attention"] == "composed"


def test_the_driver_tells_the_clock_of_a_gpu_and_its_limits():
    gpus = Gpus()
    numbers = range(len(gpus.process_bytes()))
    found = gpus.clocks(numbers)
    assert found
    # An idle GPU has no clock.
    assert all(one.mhz is None or 100 < one.mhz < 4000 for one in found.values())
    assert "GPU power limit" in gpus.limits(numbers)


@frameworks
def test_the_allocators_peak_is_that_of_the_matrices(framework, mode):
    used = last("none", framework, mode)["memory"]
    assert 3 * MATRIX_BYTES <= used["allocated_peak_bytes"] <= 12 * MATRIX_BYTES + WORKSPACE_BYTES
    assert used["reserved_peak_bytes"] >= used["allocated_peak_bytes"] or framework == "jax"


def test_cuda_graphs_are_recorded_by_the_mode_that_says_so():
    plain, graphs = (
        last("none", "torch", mode, "mlp-train", "small") for mode in ("compile", "compile-reduce-overhead")
    )
    assert plain["settings"]["CUDA graphs"] is False
    assert graphs["settings"]["CUDA graphs"] is True


def test_a_working_gpu_takes_more_than_one_at_rest():
    with PowerMeter(gpu_counter()) as meter:
        messages("none", "torch", "torchscript", "gemm", "medium")
    watts = meter.watts(0.0)
    assert watts is not None
    assert 10 < watts < 2000


def test_workers_are_forked_from_a_process_that_has_imported_the_compiler(tmp_path):
    study = tmp_path / "matrix.toml"
    study.write_text(
        f"""
[study]
name = "gpu"
title = "GPU"
baseline = "torch:eager"
profile = "check"
devices = ["gpu"]
[environments.torch]
provider = "existing"
interpreter = "{PYTHON}"
framework = "torch"
modes = ["eager", "compile"]
[environments.jax]
provider = "existing"
interpreter = "{PYTHON}"
framework = "jax"
modes = ["jit"]
[workloads.mlp-train]
[profiles.check]
rounds = 1
samples = 5
sample_seconds = 0.01
sizes = ["small"]
peaks = false
energy_s = 4.0
"""
    )
    done = subprocess.run(
        [PYTHON, "-m", "bench.host", "run", "--matrix", str(study)],
        cwd=tmp_path,
        env=ENVIRON,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (journal,) = tmp_path.glob("reports/**/records.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    records = [record for line in lines if "status" in (record := line.get("record", line))]
    assert {record["status"] for record in records} == {"ok"}
    assert {record["settings"]["process"] for record in records} == {"forked after the import"}
    assert all(record["energy"]["watts"] > record["energy"]["idle_watts"] > 10 for record in records)
    assert all(record["memory"]["nvml_peak_bytes"] > 1 << 20 for record in records)
    assert all(min(record["gpu_frequency_mhz"]) > 100 for record in records)
    assert all(record["settings"]["GPU power limit"].split()[1] == "W" for record in records)
