"""Makes runs of Keras' own loops with networks of its layers, of keras.applications and keras_hub, in our shapes.

Keras' running variance is not unbiased; models_tensorflow.py says what else differs.
"""

from __future__ import annotations

import models_tensorflow as networks
from repeated import repeated
from with_keras import Predicted, jit_of, layouts, trained
from with_tensorflow import keras, language_model


def runs(workload, size, mode, batch):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch."""
    return {name: repeated(step) for name, step in MODELS[workload](size, mode, batch).items()}


def classify(size, mode, batch):
    found = {}
    for form, given in layouts(batch).items():
        keras.backend.set_image_data_format(form)
        found[f"predict, {form}"] = predicted(networks.residual(size), mode, given)
    return found


def predicted(model, mode, batch):
    model.compile(jit_compile=jit_of(mode))
    return Predicted(model, batch)


def train_images(size, mode, batch):
    return networks.train_images(size, mode, batch, trained)


def predict(size, mode, batch):
    models = {"keras.layers": language_model(size, mode, batch, train=lambda make, *others: make())}
    if networks.GPT2CausalLM:
        models["keras_hub"] = networks.of_tokens(size)
    return {f"{name}, predict": predicted(model, mode, batch) for name, model in models.items()}


def train_language(size, mode, batch):
    return networks.train_language(size, mode, batch, trained)


MODELS = {
    "resnet18": classify, "resnet50": classify, "resnet18-train": train_images, "resnet50-train": train_images,
    "gpt": predict, "gpt-train": train_language,
}  # fmt: skip
