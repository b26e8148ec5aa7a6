"""Tests that the modes outside the default study compute what float64 does; nox -s grid does so for every workload."""

from __future__ import annotations

from pathlib import Path

import pytest
from environment import ROOT, THREADS, agreement, framework, run
from modes import GRID, GRID_INFERENCE, SEVERAL, case, cases, compiled, needs

from bench.cell import MIXED, Cell
from bench.host.study import study_file
from bench.host.study.selection import reason_against
from bench.registry import BUILT_IN
from bench.workloads import long_attention

WORKLOADS = tuple(study_file.load(ROOT / "matrix.toml").workloads)

#: What JAX without Grain does not compute, and why.
WITHOUT_GRAIN = {
    "lenet-input": "JAX has no input pipeline of its own",
    "input-pipeline": "JAX has no input pipeline of its own",
}
#: What TensorFlow Lite does not compute with integers, and why.
WITHOUT_INTEGERS = {
    "attention-causal": "a mask leaves the scores too few of 256 steps",
    "gpt": "a mask leaves the scores too few of 256 steps",
    "elementwise-chain": "large outputs leave the others too few of 256 steps",
    "scatter-add": "the converter leaves this model in float32",
}


@pytest.mark.long
@cases(
    "torch2:compile-step",
    "torch2:compile-max-autotune",
    "tf2:function-concrete",
    "tf2:xla-concrete",
    "jax:jit-async",
    "jax:jit-loop",
    "jax:jit-aot",
)
def test_modes_outside_the_default_study_agree_with_float64_in_its_workloads(environment, mode):
    """What timed samples run is compared; the default study checks the other modes.

    Whole steps have one thread, as in ``nox -s tests`` and in the check of the full study, so that what one of them has
    compiled the others find: Inductor writes the number of threads into its code. Two are in ``test_default_study.py``.
    """
    threads = 1 if mode == "compile-step" else THREADS
    found = agreement(environment, mode, *WORKLOADS, threads=threads)
    implemented = [name for name in WORKLOADS if BUILT_IN.has_implementation(name, framework(environment))]
    assert sorted(found) == sorted(implemented)
    for workload, outcome in found.items():
        training = BUILT_IN.specification(workload).TRAINING
        if mode == "jit-loop" and not training:
            assert outcome.startswith("mode jit-loop joins training steps")
            continue
        share, settings = outcome
        assert share <= 1
        assert settings["compiled"] == compiled(environment, mode, training)
        assert settings.get("frozen weights") == (True if mode == "compile-max-autotune" and not training else None)
        # Steps that need each other are waited for at the end of a sample.
        assert settings.get("synchronised") == ("every step" if mode == "jit-async" and not training else None)


@pytest.mark.long
@cases(
    "torch1:eager",
    "torch1:torchscript",
    "torch1:torchscript-trace",
    "tf2:eager",
    "tf2:function",
    "tf2:xla",
    "jax:jit",
    "jax:eager",
)
def test_forms_that_check_does_not_have_agree_with_float64(environment, mode):
    """Long attention is computed in blocks of queries, and caches of one sequence have other axes than those of two.

    Blocks have products, masks and sums of their own, so they are compared in short precisions, too.
    """
    full = ("attention-causal/small", "attention-full/small", "kv-decode/tiny")
    blocks = in_blocks(environment, mode)
    short = [f"{workload}/{precision}" for workload in blocks for precision in short_precisions(environment)]
    found = agreement(environment, mode, *full, *short)
    assert sorted(found) == sorted([*full, *short])
    for workload, (share, settings) in found.items():
        assert share <= 1
        assert (settings["attention"] == long_attention.IN_BLOCKS) == workload.startswith(blocks)


@pytest.mark.long
@cases("torch2:eager", "torch2:compile", "torch2:torchscript")
def test_pytorchs_own_attention_gives_way_to_blocks_where_a_processor_has_no_tiles_of_bfloat16(environment, mode):
    flags = set(Path("/proc/cpuinfo").read_text().split())
    without_tiles = "avx512_bf16" in flags and "amx_tile" not in flags
    full = {
        f"attention-{kind}/small/{precision}" for kind in ("causal", "full") for precision in ("float32", "bfloat16")
    }
    found = agreement(environment, mode, *sorted(full))
    assert set(found) == full
    for name, (share, settings) in found.items():
        assert share <= 1
        assert settings["attention"] == (
            long_attention.IN_BLOCKS if without_tiles and name.endswith("bfloat16") else "fused"
        )


def in_blocks(environment, mode):
    """Return the workloads that are computed in blocks; TensorFlow does so only where a mask lets it leave out keys."""
    if (environment, mode) == ("jax", "eager"):
        return ()
    return ("attention-causal/small",) if environment == "tf2" else ("attention-causal/small", "attention-full/small")


def short_precisions(environment):
    """Return the precisions that its products have on a processor."""
    return ("bfloat16",) if environment == "torch1" else ("bfloat16", "float16")


@cases("torch1:eager", "torch2:eager", "torch2:functorch", "tf2:eager", "tf2:function", long=("tf2:xla", "jax:jit"))
def test_training_in_mixed_precision_is_as_exact_as_bfloat16_lets_it_be(environment, mode):
    trained = ("mlp-train", "lenet-train", "lstm-cell-lm-train")
    found = agreement(environment, mode, *(f"{workload}/check/{MIXED}" for workload in trained))
    assert len(found) == len(trained)
    for share, settings in found.values():
        assert share <= 1
        assert settings["float32 matmul"] == "bf16"


@cases(
    "keras-tf:fit", "keras2-tf:fit", "keras-jax:train-on-batch", "keras-torch:fit", "lightning:fit", "haiku:jit",
    "flax:nnx", "flax:nnx-functional", "flax:linen",
)  # fmt: skip
def test_libraries_train_in_mixed_precision_in_their_own_ways(environment, mode):
    """Networks with dense layers, convolutions and normalisations, recurrence, and attention."""
    trained = ("lenet-train", "resnet18-train", "lstm-lm-train", "transformer-train")
    found = agreement(environment, mode, *(f"{workload}/check/{MIXED}" for workload in trained))
    assert len(found) == len(trained)
    for name, (share, settings) in found.items():
        assert share <= 1
        # The attention of nnx multiplies weights in float32.
        wide = mode.startswith("nnx") and name.startswith("transformer")
        assert settings["float32 matmul"] == ("bf16 and highest" if wide else "bf16")


@cases("torch2:torchscript", "torch2:autocast")
def test_modes_without_mixed_precision_say_so(environment, mode):
    (outcome,) = agreement(environment, mode, f"mlp-train/check/{MIXED}").values()
    assert outcome.startswith("mode ")
    assert "eager" in outcome


@cases(
    "torch1:torchscript-trace",
    "torch1:functorch",
    "torch2:functorch",
    "torch2:compile-optimizer",
    "torch2:optimizer-loop",
    "torch1:optimizer-foreach",
    "torch2:optimizer-foreach",
)
def test_ways_to_trace_and_to_differentiate_agree_with_float64(environment, mode):
    for workload, outcome in agreement(environment, mode, "gemm", "lenet-train", "catdog-cnn-train").items():
        training = BUILT_IN.specification(workload).TRAINING
        if not training and mode != "torchscript-trace":
            assert outcome == f"mode {mode} differs from eager in training only"
            continue
        share, settings = outcome
        assert share <= 1
        assert settings["compiled"] == compiled(environment, mode, training)


@cases("torch1:functorch", "torch2:functorch")
def test_functorch_maps_the_gradient_of_a_row_over_a_batch(environment, mode):
    ((share, settings),) = agreement(environment, mode, "per-sample-gradients").values()
    assert share <= 1
    assert settings["compiled"] == "nothing"


@pytest.mark.long
@needs("tf2")
def test_auto_clustering_agrees_with_float64_and_refuses_what_it_leaves_as_it_is():
    found = agreement("tf2", "xla-auto", *WORKLOADS)
    assert {name for name, outcome in found.items() if isinstance(outcome, str)} == {"gemm"}
    assert found.pop("gemm") == "auto-clustering found no operations to join in this program: see function"
    for workload, (share, settings) in found.items():
        assert share <= 1
        assert settings["compiled"] == compiled("tf2", "xla-auto", BUILT_IN.specification(workload).TRAINING)


@pytest.mark.long
@needs("tf2")
def test_xla_compiles_as_many_clusters_as_the_graphs_have():
    found = {
        mode: run("tf2", "clusters", mode, "mlp-train", "transformer-encoder") for mode in ("xla-auto", "function")
    }
    for counted, executables in found["xla-auto"].values():
        assert counted == executables > 0
    # Nothing in it is joined before XLA looks for clusters.
    assert found["xla-auto"]["transformer-encoder"][0] == 1
    assert [executables for _, executables in found["function"].values()] == [0, 0]


@cases(
    *("jax:pmap", "jax:shard-map", "tf2:mirrored", "torch1:ddp", "torch2:ddp"),
    *("jax-newest:pmap", "jax-newest:shard-map"),
)
def test_a_step_over_two_devices_agrees_with_float64_for_the_whole_batch(environment, mode):
    name = framework(environment)
    training = [
        workload
        for workload in BUILT_IN.workloads
        if BUILT_IN.has_implementation(workload, name) and BUILT_IN.specification(workload).TRAINING
    ]
    found = agreement(environment, mode, "gemm", *training)
    assert found.pop("gemm").startswith(f"mode {mode} divides training steps")
    # PyTorch takes statistics of both devices' images on GPUs only, an optimizer alone is given its gradients, and an
    # input pipeline makes a batch when it is needed.
    refused = ("optimizer-step", "lenet-input", *(["resnet"] if name == "torch" else []))
    for workload in filter(lambda each: each.startswith(refused), training):
        assert found.pop(workload).startswith(f"mode {mode} ")
    assert name == "torch" or "resnet50-train" in found
    for share, settings in found.values():
        assert share <= 1
        assert settings["devices"] == 2
        assert settings["compiled"] == compiled(environment, mode)


@pytest.mark.parametrize("training", [True, False])
@cases("torch-xla:xla", "torch-xla:compile-openxla")
def test_lazy_tensors_agree_with_float64_in_every_workload_of_the_full_study(environment, mode, training):
    study = study_file.load(ROOT / "studies" / "full.toml")
    chosen = [name for name in study.workloads if training == BUILT_IN.specification(name).TRAINING]
    assert len(chosen) > 10
    for workload in chosen:
        cell = Cell(environment, "torch", mode, workload, "check", "float32", "cpu", 1)
        if reason_against(cell, study, chosen=True) is not None:
            continue
        # Each in a process of its own: PyTorch/XLA has ended processes instead of raising an error.
        share, settings = agreement(environment, mode, workload)[workload]
        assert share <= 1, workload
        assert settings["compiled"] == compiled(environment, mode, training), workload
        if workload in WORKLOADS:
            assert settings.get("synchronised") == (None if training else "every step"), workload


@cases("torch1:torchscript-optimized", "torch2:autocast", "torch2:aot-inductor")
def test_modes_for_inference_agree_with_float64_and_refuse_to_train(environment, mode):
    found = agreement(environment, mode, "layernorm-softmax", "transformer-encoder", "mlp-train")
    for workload in ("layernorm-softmax", "transformer-encoder"):
        share, settings = found[workload]
        assert share <= 1
        assert settings["compiled"] == ("nothing" if mode == "autocast" else "forward")
        assert settings["float32 matmul"] == ("bf16" if mode == "autocast" else "highest")
    assert "inference" in found["mlp-train"] or "bfloat16" in found["mlp-train"]


@cases("tf2:function-frozen")
def test_frozen_graphs_agree_with_float64_and_refuse_what_has_no_weights_or_changes_them(environment, mode):
    """Their weights are constants in loops, in graphs of open shapes and beside convolutions, which take them up."""
    refused = {"gemm": "has none", "mlp-train": "changes the weights", "hessian-vector": "that change"}
    inferred = (
        "dispatch",
        "branch-if",
        "stencil",
        "transformer-encoder",
        "resnet18",
        "resnet18/check/bfloat16",
        "kv-decode",
        "lengths-exact",
    )
    found = agreement(environment, mode, *inferred, *refused)
    for workload, why in refused.items():
        assert found.pop(workload).endswith(f"{why}: see function")
    assert sorted(found) == sorted(inferred)
    for share, settings in found.values():
        assert share <= 1
        assert settings["frozen weights"] is True
        assert settings["compiled"] == "forward"


@cases("torch1:channels-first", "torch2:channels-last", "torch2:channels-first")
def test_memory_formats_agree_with_float64_in_every_program_with_images_and_refuse_the_others(environment, mode):
    images = ("lenet-train", "catdog-cnn-train", "conv2d", "conv2d-depthwise", "resnet18", "resnet50", "resnet18-train")
    found = agreement(environment, mode, *images, "conv2d-nchw", "mlp-train", "gemm")
    assert found.pop("conv2d-nchw") == "the layout is the workload's: see conv2d"
    assert found.pop("mlp-train") == found.pop("gemm") == "has no images: see eager"
    for share, settings in found.values():
        assert share <= 1
        # Read off what the first convolution returned.
        assert settings["layout"] == {"channels-last": "NCHW, channels_last", "channels-first": "NCHW"}[mode]
        assert settings["compiled"] == "nothing"


@pytest.mark.long
@needs("torch2")
def test_libraries_compiled_ahead_do_not_share_a_cache_of_keys():
    found = agreement("torch2", "aot-inductor", "kv-decode")
    assert found["kv-decode"].startswith("each library of AOTInductor has buffers of its own")


@pytest.mark.parametrize(
    ("environment", "mode"), [case(*each) for each in (*GRID, *GRID_INFERENCE) if each[1] not in SEVERAL]
)
def test_every_implementation_of_an_environment_outside_the_default_study_agrees_with_float64(environment, mode):
    found = agreement(environment, mode)
    name = framework(environment)
    implemented = [workload for workload in BUILT_IN.workloads if BUILT_IN.has_implementation(workload, name)]
    assert sorted(found) == sorted(implemented)
    for workload, outcome in found.items():
        training = BUILT_IN.specification(workload).TRAINING
        if name == "keras" and training == mode.startswith("predict"):
            assert outcome.startswith(f"mode {mode} is for ")
            continue
        if mode == "jit-loop" and workload != "input-pipeline" and (not training or workload == "lenet-input"):
            assert outcome.startswith("mode jit-loop ")
            continue
        if environment == "jax-newest" and workload in WITHOUT_GRAIN:
            assert WITHOUT_GRAIN[workload] in outcome
            continue
        if mode == "int8" and workload in WITHOUT_INTEGERS:
            assert WITHOUT_INTEGERS[workload] in outcome
            continue
        share, settings = outcome
        assert share <= 1
        assert settings["compiled"] == compiled(environment, mode, training)


@needs("tflite")
def test_the_integers_of_tensorflow_lite_err_more_than_its_float32_and_say_so():
    found = {mode: agreement("tflite", mode)["resnet18"] for mode in ("float32", "int8")}
    assert found["float32"][1]["float32 matmul"] == "highest"
    assert found["int8"][1]["float32 matmul"] == "int8"


@needs("tflite")
def test_the_integers_of_tensorflow_lite_have_the_ranges_of_whole_batches_and_refuse_a_wide_softmax():
    found = agreement("tflite", "int8", "gemm/small/float32", "layernorm-softmax/tiny/float32")
    # With the right side of one batch and the left side of the next, each had the other's range: 2.6 times the error.
    assert found["gemm/small/float32"][0] < 0.4
    assert "steps of 1/256, too few for results over 256 columns" in found["layernorm-softmax/tiny/float32"]


@needs("keras-jax")
def test_keras_on_jax_has_no_further_compilation():
    for mode, other in (("fit-jit", "fit"), ("predict-jit", "predict")):
        found = agreement("keras-jax", mode)
        assert set(found.values()) == {f"on JAX Keras compiles by default: use {other}"}
