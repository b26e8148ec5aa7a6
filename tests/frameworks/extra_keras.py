"""Runs inside an environment of Keras: what PyTorch's compiler makes of a training with Adam."""

from __future__ import annotations

import gc
from unittest import mock

from trial import adapter_of, built, end, run

from bench.cell import MIXED
from bench.frameworks.keras import adapter as of_keras
from bench.frameworks.keras import computed
from bench.frameworks.keras.versions import BACKEND
from bench.registry import BUILT_IN
from bench.workloads.transformer_train import keras as transformer


def examine(mode):
    found = {"adam": adam(mode)} if BACKEND == "torch" and mode == "fit-jit" else {}
    if BACKEND == "torch" and mode == "fit":
        found["device"] = device_beside_a_gpu()
    return dict(found, attention=attention()) if BACKEND == "jax" and mode == "fit" else found


def device_beside_a_gpu():
    """Return where Keras computes in a cell of the processor when PyTorch sees a GPU, as it would after its import."""
    from keras.src.backend.torch import core

    with mock.patch.object(core, "DEFAULT_DEVICE", "cuda"):
        before = core.get_device()
        adapter_of("keras", "fit")
        gc.collect()
        found = [before, core.get_device()]
    of_keras.KEPT.close()
    return found


def attention():
    """Return the form of attention in each precision, as it is here and with cuDNN and a GPU that it takes."""
    from jax._src.cudnn import fused_attention_stablehlo as cudnn

    found = {}
    for precision in ("float32", MIXED):
        adapter_of("keras", "fit", precision)
        model = transformer.network(BUILT_IN.specification("transformer-train").SIZES["check"])
        here = computed.attention(model, "composed")
        with mock.patch.multiple(
            cudnn,
            check_cudnn_version=lambda: 91300,
            check_compute_capability=lambda capability: True,
            is_cuda_compute_capability_equal=lambda capability: False,
        ):
            found[precision] = [here, computed.attention(model, "composed")]
    return found


def adam(mode):
    """Train with Adam, and return what was compiled of that alone: Keras' SGD breaks the graph of its own accord."""
    from bench.frameworks.torch.compiler import dynamo_counters

    dynamo_counters().clear()
    adapter = adapter_of("keras", mode)
    program, batches = built(adapter, "keras", mode, "catdog-cnn-train")
    run(adapter, program, batches, 4)
    end(program)
    return adapter.compilation()
