"""Makes runs of networks of Keras' layers, converted to models of TensorFlow Lite."""

from __future__ import annotations

import with_tensorflow
from models_tensorflow import residual
from repeated import repeated
from with_tflite import inferring


def runs(workload, size, mode, batch):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch."""
    if workload == "resnet18":
        model = residual(size)
    else:
        model = with_tensorflow.language_model(size, mode, batch, train=lambda make, *others: make())
    steps = inferring(model, mode, batch[0], "outputs")
    return {f"keras.layers, {way}": repeated(step) for way, step in steps.items()}
