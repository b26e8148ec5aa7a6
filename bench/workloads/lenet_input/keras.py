"""Implements lenet-input in Keras: ``fit`` takes the pipeline of its backend, ``train_on_batch`` a batch of it."""

from __future__ import annotations

import importlib

from ...frameworks.fed import fed, feeding
from ...frameworks.keras.adapter import training
from ...frameworks.keras.versions import BACKEND
from ..lenet_train import SIDE
from ..lenet_train.keras import layout, network
from . import OPTIMIZER


def build(size, parameters, batch, transform):
    pipeline = importlib.import_module("." + BACKEND, __package__).Pipeline(batch)

    def feed(batches):
        if BACKEND == "jax":
            return {"x": pipeline(batches), "steps_per_epoch": len(batches)}
        return {"x": pipeline.counted(batches)}

    model = network(SIDE, (6, 16), (120, 84), 10)
    program = training(
        model, parameters, feeding(transform, pipeline.settings()), OPTIMIZER, layout=layout(), feed=feed
    )
    ends = {"close": pipeline.close, "processes": pipeline.processes} if BACKEND == "torch" else {}
    return program._replace(**ends) if transform.mode.startswith("fit") else fed(program, pipeline, **ends)
