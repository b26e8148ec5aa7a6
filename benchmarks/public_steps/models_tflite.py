"""Makes runs of networks of Keras' layers, converted to models of TensorFlow Lite."""

from __future__ import annotations

import models_tensorflow
from repeated import repeated
from with_tflite import inferring


def runs(workload, size, mode, batch):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch; empty where there are none."""
    if workload == "resnet18":
        models = {"keras.layers": models_tensorflow.residual(size)}
    elif models_tensorflow.GPT2CausalLM is not None:
        models = {"keras_hub": models_tensorflow.of_tokens(size)}
    else:
        return {}
    found = {}
    for name, model in models.items():
        steps = inferring(model, mode, batch[0], "outputs")
        found.update((f"{name}, {way}", repeated(step)) for way, step in steps.items())
    return found
