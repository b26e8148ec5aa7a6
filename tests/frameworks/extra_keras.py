"""Runs inside an environment of Keras: what PyTorch's compiler makes of a training with Adam."""

from __future__ import annotations

from trial import adapter_of, built, end, run

from bench.frameworks.keras.versions import BACKEND


def examine(mode):
    return {"adam": adam(mode)} if BACKEND == "torch" and mode == "fit-jit" else {}


def adam(mode):
    """Train with Adam, and return what was compiled of that alone: Keras' SGD breaks the graph of its own accord."""
    from bench.frameworks.torch.compiler import dynamo_counters

    dynamo_counters().clear()
    adapter = adapter_of("keras", mode)
    program, batches = built(adapter, "keras", mode, "catdog-cnn-train")
    run(adapter, program, batches, 4)
    end(program)
    return adapter.compilation()
