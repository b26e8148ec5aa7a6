"""Tests every adapter in every mode, in its environment: settings read back, compilations counted, machine peaks."""

from __future__ import annotations

from typing import Any

import pytest
from environment import THREADS, run

from bench.registry import BUILT_IN

MODES = [
    ("torch1", "torch", "eager"),
    ("torch1", "torch", "torchscript"),
    ("torch2", "torch", "eager"),
    ("torch2", "torch", "compile"),
    ("torch2", "torch", "compile-step"),
    ("torch2", "torch", "compile-max-autotune"),
    ("tf2", "tensorflow", "eager"),
    ("tf2", "tensorflow", "eager-fused"),
    ("tf2", "tensorflow", "function"),
    ("tf2", "tensorflow", "xla"),
    ("jax", "jax", "eager"),
    ("jax", "jax", "jit"),
    ("jax", "jax", "jit-async"),
    ("jax", "jax", "jit-loop"),
]
WHOLE_STEP = "forward, backward and optimizer"
OP_BY_OP = ("eager", "eager-fused")
COMPILED = {
    "eager": "nothing",
    "eager-fused": "nothing",
    "torchscript": "forward and backward",
    "compile": "forward and backward",
    "compile-step": WHOLE_STEP,
    "compile-max-autotune": "forward and backward",
    "function": WHOLE_STEP,
    "xla": WHOLE_STEP,
    "jit": WHOLE_STEP,
    "jit-async": WHOLE_STEP,
    "jit-loop": WHOLE_STEP,
}
NAMES = {
    "threads", "interop threads", "float32 matmul", "TF32 matmul", "TF32 convolution", "x64", "layout", "CUDA graphs",
    "donation", "cuDNN autotuning", "cuDNN deterministic", "fused optimizer", "allocator", "instruction set",
    "compiled", "BLAS", "kernels", "dispatch", "synchronised", "optimizer", "attention", "frozen weights",
}  # fmt: skip
real = pytest.mark.real
every_mode = pytest.mark.parametrize(
    ("environment", "framework", "mode"),
    [
        *[pytest.param(*case, id=f"{case[0]}-{case[2]}", marks=real) for case in MODES],
        pytest.param("numpy", "numpy", "eager", id="numpy"),
    ],
)
torch_modes = pytest.mark.parametrize(
    ("environment", "mode"), [(environment, mode) for environment, framework, mode in MODES if framework == "torch"]
)


def trial(environment: str, framework: str, mode: str) -> dict[str, Any]:
    """Try all modes of the environment at once, which imports the framework once; return what one of them gave."""
    modes = [known for name, _, known in MODES if name == environment] or [mode]
    found: dict[str, Any] = run(environment, "trial.py", framework, *modes)[mode]
    return found


@every_mode
def test_settings_have_the_names_that_all_adapters_share(environment, framework, mode):
    for steady in trial(environment, framework, mode)["steady"].values():
        assert set(steady["settings"]) <= NAMES
        assert steady["settings"]["threads"] == THREADS
        assert steady["settings"]["allocator"].startswith("malloc of ")
        assert steady["settings"]["compiled"] == COMPILED[mode]
        assert steady["settings"].get("float32 matmul", "highest") == "highest"


@every_mode
def test_only_a_program_with_convolutions_has_a_layout(environment, framework, mode):
    found = {name: steady["settings"] for name, steady in trial(environment, framework, mode)["steady"].items()}
    assert "layout" not in found["mlp-train"]
    expected = {"torch": "NCHW, channels_last", "tensorflow": "NHWC", "jax": "NHWC", "numpy": None}
    assert found["lenet-train"].get("layout") == expected[framework]


@real
@pytest.mark.parametrize(
    ("environment", "framework", "mode", "fused"),
    [
        ("torch1", "torch", "eager", False),
        ("torch2", "torch", "eager", True),
        ("torch2", "torch", "compile", True),
        ("torch2", "torch", "compile-step", "by the compiler"),
        ("tf2", "tensorflow", "eager", False),
        ("tf2", "tensorflow", "eager-fused", True),
        ("tf2", "tensorflow", "function", True),
        ("tf2", "tensorflow", "xla", "by the compiler"),
        ("jax", "jax", "eager", False),
        ("jax", "jax", "jit", "by the compiler"),
    ],
)
def test_who_fuses_the_optimizer_is_said(environment, framework, mode, fused):
    settings = trial(environment, framework, mode)["steady"]["mlp-train"]["settings"]
    assert settings["fused optimizer"] == fused


@real
def test_only_op_by_op_does_tensorflow_train_with_keras_optimizer():
    names = {
        mode: trial("tf2", "tensorflow", mode)["steady"]["mlp-train"]["settings"]["optimizer"]
        for mode in ("eager", "eager-fused", "function", "xla")
    }
    assert names == {
        "eager": "keras", "eager-fused": "training kernels", "function": "training kernels", "xla": "training kernels",
    }  # fmt: skip


@real
@pytest.mark.parametrize("mode", ["eager", "eager-fused", "function", "xla"])
def test_a_reset_restores_the_state_of_tensorflows_optimizers(mode):
    for first, again, onward in trial("tf2", "tensorflow", mode)["extras"]["losses"].values():
        assert first == again
        assert onward != first


@real
def test_mode_eager_fused_is_for_training_only():
    assert "optimizer only" in trial("tf2", "tensorflow", "eager-fused")["another shape"]["unsupported"]


@real
@pytest.mark.parametrize(
    ("environment", "framework", "mode", "form"),
    [
        ("torch1", "torch", "eager", "composed"),
        ("torch2", "torch", "eager", "fused"),
        ("tf2", "tensorflow", "function", "composed"),
        ("jax", "jax", "jit", "composed"),
    ],
)
def test_the_form_of_attention_is_said(environment, framework, mode, form):
    found = trial(environment, framework, mode)
    assert found["attention"]["attention"] == form
    assert "attention" not in found["steady"]["mlp-train"]["settings"]


@real
def test_donation_is_seen_in_what_became_of_the_arrays():
    assert trial("jax", "jax", "jit")["steady"]["mlp-train"]["settings"]["donation"] is True
    assert trial("jax", "jax", "eager")["steady"]["mlp-train"]["settings"]["donation"] is False


@every_mode
def test_nothing_is_compiled_in_steady_state(environment, framework, mode):
    for steady in trial(environment, framework, mode)["steady"].values():
        assert steady["before"] == steady["after"]
        assert steady["before"]["compiled"] == COMPILED[mode]
        # Op by op, JAX compiles every primitive at its first use.
        compiles = mode not in OP_BY_OP or framework == "jax"
        assert (steady["before"]["compilations"] > 0) == compiles
        if mode.startswith("jit"):
            assert steady["before"]["traces"] == 1


@real
@pytest.mark.parametrize(
    ("environment", "framework", "mode"),
    [
        ("torch2", "torch", "compile"),
        ("tf2", "tensorflow", "function"),
        ("tf2", "tensorflow", "xla"),
        ("jax", "jax", "eager"),
        ("jax", "jax", "jit"),
        ("jax", "jax", "jit-async"),
    ],
)
def test_another_shape_is_counted_as_a_compilation(environment, framework, mode):
    """TorchScript is not here: it does not tell of the shapes that it specialises to."""
    found = trial(environment, framework, mode)["another shape"]
    # Op by op, nothing is traced as a whole.
    for name in ("compilations",) if mode == "eager" else ("traces", "compilations"):
        assert found["after"][name] > found["before"][name]
    assert found["after"]["compiled"] == ("nothing" if mode == "eager" else "forward")


@real
def test_a_loop_of_training_steps_has_no_inference():
    assert trial("jax", "jax", "jit-loop")["another shape"]["unsupported"].startswith(
        "mode jit-loop joins training steps"
    )


@real
@pytest.mark.parametrize(
    ("environment", "framework", "mode", "dispatch"),
    [
        ("torch2", "torch", "eager", "inline"),
        ("tf2", "tensorflow", "function", "inline"),
        ("jax", "jax", "eager", "inline"),
        ("jax", "jax", "jit", "inline"),
        ("jax", "jax", "jit-async", "asynchronous"),
        ("jax", "jax", "jit-loop", "inline"),
        ("numpy", "numpy", "eager", "inline"),
    ],
)
def test_dispatch_is_read_back(environment, framework, mode, dispatch):
    for steady in trial(environment, framework, mode)["steady"].values():
        assert steady["settings"]["dispatch"] == dispatch


@real
def test_a_graph_break_is_counted_and_explained():
    found = trial("torch2", "torch", "compile")["extras"]["breaks"]
    assert found["before"]["graph_breaks"] == 0
    assert found["after"]["graph_breaks"] == 1
    assert found["after"]["graphs"] - found["before"]["graphs"] == 2
    assert "graph_break" in found["after"]["graph_break_reasons"][0]
    assert found["result"] == [3.0, 3.0, 3.0]


@real
@pytest.mark.parametrize(
    ("environment", "framework", "mode"),
    [
        ("torch2", "torch", "compile-step"),
        ("torch2", "torch", "compile-max-autotune"),
        ("jax", "jax", "jit-async"),
        ("jax", "jax", "jit-loop"),
    ],
)
def test_modes_outside_the_default_study_agree_with_float64_in_every_workload(environment, framework, mode):
    """What timed samples run is compared; the default study checks the other modes."""
    found = run(environment, "agreement.py", framework, mode)
    implemented = [name for name in BUILT_IN.workloads if BUILT_IN.has_implementation(name, framework)]
    assert sorted(found) == sorted(implemented)
    for workload, outcome in found.items():
        training = BUILT_IN.specification(workload).TRAINING
        if mode == "jit-loop" and not training:
            assert outcome.startswith("mode jit-loop joins training steps")
            continue
        share, settings = outcome
        assert share <= 1
        assert settings["compiled"] == (COMPILED[mode] if training else "forward")
        assert settings.get("frozen weights") == (True if mode == "compile-max-autotune" and not training else None)
        # Steps that need each other are waited for at the end of a sample.
        assert settings.get("synchronised") == ("every step" if mode == "jit-async" and not training else None)


@every_mode
def test_the_products_and_copies_that_measure_the_machine_are_right(environment, framework, mode):
    for precision, errors in trial(environment, framework, mode)["peaks"].items():
        # PyTorch 1.13 sums bfloat16 products in bfloat16 on a processor.
        assert max(errors["multiply"]) < {"float32": 1e-6, "bfloat16": 2e-2}[precision]
        assert max(errors["multiply"]) > 0
        assert max(errors["copy"]) == 0


@every_mode
def test_only_the_memory_of_a_gpu_is_limited(environment, framework, mode):
    assert "memory" in trial(environment, framework, mode)["limit"]


@real
@torch_modes
def test_torch_tells_what_a_gpu_computes_with(environment, mode):
    found = trial(environment, "torch", mode)["extras"]["gpu"]
    assert set(found["settings"]) <= NAMES
    assert found["settings"]["float32 matmul"] == "highest"
    assert found["settings"]["TF32 matmul"] is found["settings"]["TF32 convolution"] is False
    assert found["settings"]["CUDA graphs"] is False
    assert (found["loose"]["float32 matmul"], found["loose"]["TF32 matmul"]) == ("tf32", True)
    assert found["memory"] == {"allocated_peak_bytes": 3, "reserved_peak_bytes": 4}


@real
@torch_modes
def test_recorded_cuda_graphs_are_found(environment, mode):
    compiled = mode.startswith("compile")
    assert trial(environment, "torch", mode)["extras"]["gpu"]["graphs"] is (
        compiled if environment == "torch2" else None
    )


@real
def test_cuda_graphs_are_for_a_gpu():
    refused, given = trial("torch2", "torch", "compile")["extras"]["overhead"]
    assert refused == "mode compile-reduce-overhead records CUDA graphs, which need a GPU; use compile"
    assert given == {"dynamic": False, "mode": "reduce-overhead"}


@real
def test_a_step_as_one_function_keeps_running_statistics_and_is_reset_like_one_with_an_optimizer():
    whole, parts = trial("torch2", "torch", "compile-step")["extras"]["statistics"]
    assert whole["losses"][0] == whole["losses"][1]
    assert whole["losses"] == pytest.approx(parts["losses"], rel=1e-6)
    assert parts["state"]["normal.num_batches_tracked"] == [3.0]
    for name, values in parts["state"].items():
        assert whole["state"][name] == pytest.approx(values, rel=1e-5, abs=1e-6)


@real
def test_weights_are_frozen_for_inference_in_the_tuned_mode_alone():
    for mode, frozen in (("compile-max-autotune", True), ("compile", None)):
        assert trial("torch2", "torch", mode)["another shape"]["settings"].get("frozen weights") is frozen


@real
@torch_modes
def test_torch_limits_a_gpu_to_a_share_of_its_memory(environment, mode):
    assert trial(environment, "torch", mode)["extras"]["gpu"]["asked"] == [[0.25, "cuda"], [1.0, "cuda"]]


@real
@torch_modes
def test_torch_reads_layout_and_allocator(environment, mode):
    found = trial(environment, "torch", mode)["extras"]
    assert found["layouts"] == ["NCHW", "NCHW, channels_last", {}]
    assert found["allocators"] == ["caching, expandable segments", "caching", "caching", "cudaMallocAsync"]


@real
def test_tensorflow_limits_a_gpu_by_a_logical_device():
    found = trial("tf2", "tensorflow", "eager")["extras"]
    assert found["limit"] == [["growth", "a GPU", False], ["devices", "a GPU", [2048]]]


@real
def test_tensorflow_tells_what_a_gpu_computes_with():
    plain, steered = trial("tf2", "tensorflow", "eager")["extras"]["settings"]
    assert plain == {"cuDNN autotuning": True, "cuDNN deterministic": False, "allocator": "bfc, growing"}
    assert steered["cuDNN autotuning"] is False
    assert steered["allocator"] == "x"


@real
def test_jax_limits_a_gpu_before_it_sees_it():
    found = trial("jax", "jax", "jit")["extras"]
    assert found["shares"] == [
        {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.250000"},
        {"XLA_CLIENT_MEM_FRACTION": "0.250000"},
        "jax limits no memory with XLA_PYTHON_CLIENT_ALLOCATOR=platform",
    ]
    assert "before" in found["late"]


@real
def test_jax_tells_of_a_gpus_memory():
    found = trial("jax", "jax", "jit")["extras"]
    assert found["allocators"] == ["bfc, growing", "bfc, preallocated", "platform"]
    assert found["peaks"] == [
        {"allocated_peak_bytes": 5, "reserved_peak_bytes": 12},
        {"allocated_peak_bytes": 5},
        {},
    ]
