"""Makes runs of Keras' own loops as its guides have them: fit and predict of arrays, and train_on_batch.

With an input pipeline, ``fit`` gets the one that its guides have for the backend, and a PyDataset on PyTorch and JAX.

On PyTorch, images come in Keras' default form and with their channels first, which PyTorch prefers.
"""

from __future__ import annotations

import functools

import numpy as np
import with_tensorflow as networks
from stored import CHANNELS_FIRST, CHANNELS_LAST
from with_tensorflow import keras

BACKEND = keras.backend.backend() if hasattr(keras, "ops") else "tensorflow"
#: Steps of one execution in Keras' guide to speed; JAX and TensorFlow take it.
EXECUTED = {"fit": 1} if BACKEND == "torch" else {"fit": 1, "fit, steps_per_execution": 32}

#: {form of images: shape of one}
SHAPES = {"channels_last": CHANNELS_LAST, "channels_first": CHANNELS_FIRST}


def steps(workload, size, mode, batch):
    """Return ``{name: object with a run}``; empty where there is none of the workload."""
    if workload == "transformer-encoder":
        inputs = keras.Input(batch_shape=batch[0].shape)
        model = keras.Model(inputs, networks.stack(size, inputs, causal=False))
        model.compile(jit_compile=jit_of(mode))
        return {"predict": Predicted(model, batch)}
    if workload == "lenet-input":
        return networks.lenet(size, mode, batch, train=piped)
    made = {
        "mlp-train": networks.perceptron, "lenet-train": networks.lenet, "catdog-cnn-train": networks.catdog,
        "transformer-train": networks.language_model, "lstm-lm-train": networks.recurrent,
    }.get(workload)  # fmt: skip
    return made(size, mode, batch, train=trained) if made else {}


def jit_of(mode):
    return True if mode.endswith("-jit") else "auto" if hasattr(keras, "ops") else None


def trained(make, mode, batch, optimizer=lambda: keras.optimizers.SGD(networks.RATE)):
    found = {}
    for form, given in layouts(batch).items():
        keras.backend.set_image_data_format(form)

        def compiled(executed, given=given):
            model = make()
            model.compile(optimizer(), networks.criterion(), jit_compile=jit_of(mode), steps_per_execution=executed)
            return model

        name = ", channels_first" if form == "channels_first" else ""
        if mode == "train-on-batch":
            found["train_on_batch" + name] = on_batch(compiled(1), given)
        else:
            found.update((loop + name, Fitted(compiled(count), given)) for loop, count in EXECUTED.items())
    return found


def layouts(batch):
    """Return {form of images: batch in it}; what is no image has Keras' default alone."""
    found = {"channels_last": batch}
    if BACKEND == "torch" and len(batch[0].shape) == 4:
        images, *labels = batch
        found["channels_first"] = (images.permute(0, 3, 1, 2).contiguous(), *labels)
    return found


def piped(make, mode, batch, optimizer=lambda: keras.optimizers.SGD(networks.RATE)):
    """Train on what pipelines make of the stored examples."""
    found = {}
    for form, pipelines in sources(mode, batch).items():
        keras.backend.set_image_data_format(form)
        for name, pipeline in pipelines.items():
            for loop, count in ({"train_on_batch": 1} if mode == "train-on-batch" else EXECUTED).items():
                model = make()
                model.compile(optimizer(), networks.criterion(), jit_compile=jit_of(mode), steps_per_execution=count)
                ending = ", channels_first" if form == "channels_first" else ""
                found[f"{loop}, {name}{ending}"] = Piped(model, pipeline, loop.startswith("fit"))
    return found


def sources(mode, batch):
    """Return {form of images: {name: pipeline}} of a backend."""
    if BACKEND == "tensorflow":
        from pipelines_tensorflow import pipelines

        return {"channels_last": pipelines(batch)}
    from pipelines_keras import pydataset

    if BACKEND == "jax":
        from pipelines_jax import pipelines

        # Keras takes Grain's data sets as they are.
        found = {"channels_last": pipelines(batch, lambda dataset: dataset)}
    else:
        from pipelines_torch import pipelines

        found = {form: pipelines(batch, shape) for form, shape in SHAPES.items()}
    if mode.startswith("fit"):
        for form, made in found.items():
            made["PyDataset"] = pydataset(batch, SHAPES[form])
    return found


def on_batch(model, batch):
    return lambda *given: {"loss": model.train_on_batch(*batch)}


class Arrays:
    """NumPy's arrays of as many batches as a run has, which are kept for the next run of that length."""

    def __init__(self, batch):
        self._batch = [np.asarray(array) for array in batch]
        self._kept = {}

    def of(self, count):
        if count not in self._kept:
            self._kept[count] = [np.concatenate([array] * count) for array in self._batch]
        return self._kept[count]


class Fitted(Arrays):
    """Calls ``fit``."""

    def __init__(self, model, batch):
        super().__init__(batch)
        self._model = model

    def run(self, batches):
        found = self._model.fit(
            *self.of(len(batches)), batch_size=len(self._batch[0]), epochs=1, shuffle=False, verbose=0
        )
        return {"loss": found.history["loss"][-1]}


class Piped:
    """Calls ``fit`` with a pipeline, or ``train_on_batch`` with each of its batches.

    A pipeline of as many batches as a run has is kept for the next run of that length.
    """

    def __init__(self, model, pipeline, fits):
        self._model, self._fits = model, fits
        self._made = functools.lru_cache(maxsize=None)(pipeline)

    def run(self, batches):
        pipeline = self._made(len(batches))
        if self._fits:
            found = self._model.fit(pipeline, epochs=1, shuffle=False, verbose=0)
            return {"loss": found.history["loss"][-1]}
        for images, labels in pipeline:
            loss = self._model.train_on_batch(images, labels)
        return {"loss": loss}


class Predicted(Arrays):
    """Calls ``predict``."""

    def __init__(self, model, batch):
        super().__init__(batch)
        self._model = model

    def run(self, batches):
        count = len(self._batch[0])
        return {"hidden": self._model.predict(*self.of(len(batches)), batch_size=count, verbose=0)[-count:]}
