"""Tests that the public kernels which ours are timed beside compute the same, and that a wrong one is found."""

from __future__ import annotations

from environment import run
from modes import cases

KERNELS = (
    "batched-gemm", "conv2d", "conv2d-depthwise", "embedding-bag", "scatter-add", "random-normal", "random-uniform",
    "optimizer-step-sgd", "optimizer-step-adam", "optimizer-step-adamw", "per-sample-gradients", "hessian-vector",
)  # fmt: skip
NETWORKS = ("mlp-train", "transformer-encoder")
INFERRED = ("batched-gemm", "conv2d", "conv2d-depthwise", "embedding-bag", "scatter-add")
SCRIPTED = (*INFERRED, *NETWORKS)
OPTIMIZERS = ("optimizer-step-sgd", "optimizer-step-adam", "optimizer-step-adamw")
TRAINED = ("mlp-train", "lenet-train", "transformer-train")
FLAX = (*TRAINED, "transformer-encoder", "lstm-lm-train", "resnet18-train", "resnet50", "gpt-train")
#: {mode: workloads that have public ones in it}
REQUESTED = {
    "torchscript": SCRIPTED,
    "torchscript-trace": SCRIPTED,
    "torchscript-optimized": ("conv2d", "embedding-bag", "transformer-encoder"),
    "functorch": TRAINED,
    "optimizer-loop": OPTIMIZERS,
    "optimizer-foreach": OPTIMIZERS,
    "channels-last": ("conv2d", "conv2d-depthwise", "lenet-train"),
    "channels-first": ("conv2d", "conv2d-depthwise", "lenet-train"),
    "compile-optimizer": ("mlp-train", "optimizer-step-adam"),
    "function-frozen": ("conv2d", "embedding-bag", "transformer-encoder"),
    "function-concrete": (*KERNELS, *NETWORKS),
    "xla-concrete": ("conv2d", "optimizer-step-adam", *NETWORKS),
    "xla-auto": ("mlp-train",),
    "eager": (*KERNELS, *NETWORKS),
    "jit-async": (*KERNELS, *NETWORKS),
    "jit-aot": (*KERNELS, *NETWORKS),
    "jit-loop": (*OPTIMIZERS, *TRAINED),
    "fit": TRAINED,
    "fit-compile": ("mlp-train", "lstm-lm-train"),
    "train-on-batch": TRAINED,
    "predict": ("transformer-encoder",),
    "float32": (*INFERRED, "transformer-encoder"),
    "int8": ("conv2d", "transformer-encoder"),
    "session": (*TRAINED, "transformer-encoder"),
    "function": ("mlp-train", "lenet-train"),
    "nnx": FLAX,
    "nnx-functional": FLAX,
    "linen": FLAX,
    "jit": (*TRAINED, "lstm-lm-train", "transformer-encoder", "gpt", "gpt-train"),
    "xla": ("conv2d", "embedding-bag", "optimizer-step-adam", "mlp-train"),
    "compile-openxla": ("conv2d", "embedding-bag", "mlp-train"),
}


@cases("torch1:eager", "torch2:eager", long=("tf2:function", "jax:jit"))
def test_public_kernels_agree_with_float64_and_a_wrong_one_is_not_timed(environment, mode):
    found = run(environment, "public_kernels", mode, *KERNELS, *NETWORKS)
    timed, differing = found.pop("planted")
    assert "planted" not in timed
    assert list(differing) == ["planted"]
    assert differing["planted"].startswith("sums[0] has a relative error of 0.001 against float64; ")
    for timed, differing in found.values():
        assert len(timed) > 1
        assert differing == {}


def compared(environment, mode, *workloads):
    """Return {workload: the public ones that are timed, and those that differ}, without the planted mistake."""
    found = run(environment, "public_kernels", mode, *workloads)
    found.pop("planted")
    return found


@cases(
    "torch1:torchscript-trace", "torch1:torchscript-optimized", "torch1:functorch", "torch1:optimizer-loop",
    "torch1:optimizer-foreach", "torch2:torchscript", "torch2:functorch", "torch2:optimizer-loop",
    "torch2:optimizer-foreach", "torch2:channels-last", "torch2:channels-first", "torch2:compile-optimizer",
    "tf2:function-frozen", "tf2:function-concrete", "tf2:xla-concrete", "tf2:xla-auto", "jax:eager", "jax:jit-async",
    "jax:jit-aot", "jax:jit-loop", "keras-jax:fit", "flax:nnx",
    "flax:nnx-functional", "flax:linen", "haiku:jit", "lightning:fit", "lightning:fit-compile", "keras-torch:fit",
    "keras-torch:train-on-batch", "keras-torch:predict", "keras2-tf:fit", "keras2-tf:predict", "tflite:float32",
    "tflite:int8", "tf1:session", "tf2-session:session", "theano:function", "torch-xla:xla",
    "torch-xla:compile-openxla", long=("tf2:xla",),
)  # fmt: skip
def test_public_ones_of_modes_on_request_and_of_libraries_agree(environment, mode):
    found = compared(environment, mode, *REQUESTED[mode])
    for workload, (timed, differing) in found.items():
        assert len(timed) > 1, workload
        assert differing == {}


@cases(
    "keras-tf:fit", "keras-tf:train-on-batch", "keras-torch:fit", "keras-torch:train-on-batch", "keras2-tf:fit",
    "keras2-tf:train-on-batch",
)  # fmt: skip
def test_pipelines_that_feed_keras_agree(environment, mode):
    timed, differing = run(environment, "public_kernels", mode, "lenet-input")["lenet-input"]
    assert len(timed) > 2
    assert differing == {}


@cases(
    "keras-tf:train-on-batch", "keras-jax:train-on-batch", "keras-torch:fit", "keras-torch:train-on-batch",
    "keras-tf:predict", "keras-tf:predict-jit", "keras-jax:predict", "keras-torch:predict",
)  # fmt: skip
def test_larger_networks_in_keras_agree(environment, mode):
    networks = ("resnet18", "gpt") if mode.startswith("predict") else ("resnet18-train", "gpt-train")
    found = compared(environment, mode, *networks)
    assert set(found) == set(networks)
    for workload, (timed, differing) in found.items():
        assert len(timed) > 1, workload
        assert differing == {}
