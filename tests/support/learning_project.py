"""A project with a small workload that can be trained to a result, in NumPy; a variable plants mistakes in it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

STUDY = """
[study]
name = "marks"
baseline = "one:eager"
default = {default}
profile = "brief"
seed = 1
threads = 1
paths = ["./mine"]
{environments}
[workloads.marks-train]
[workloads.gemm]
[profiles.brief]
peaks = false
rounds = 1
samples = 2
sample_seconds = 0.001
sizes = ["check"]
timeout_s = 60
"""
ENVIRONMENT = """
[environments.{name}]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager"]
variables = {{ PLANTED = "{planted}" }}
"""
SPECIFICATION = '''
"""Specifies marks-train: a linear classifier of 60 rows of four numbers, of which the first says the class."""

import os

import numpy as np

from bench.workloads import layers

ITEM = "image"
SIZES = {name: {"batch": 5} for name in ("check", "tiny", "small")}
PRECISIONS = ("float32",)
TRAINING = True
OPTIMIZER = {"name": "sgd", "learning_rate": 0.5}


def source(path=None):
    if path is not None and not os.path.exists(os.path.join(path, "marks.txt")):
        raise ValueError("{}: no marks.txt in this folder".format(path))
    random = np.random.RandomState(0)
    marks = random.randint(0, 2, 60)
    inputs = random.standard_normal((60, 4))
    inputs[:, 0] += 2 * marks - 1
    return (inputs.astype(np.float32), marks.astype(np.int32)), "60 marks"


def labels(source):
    return source[1]


def examples(source, rows):
    return source[0][rows], source[1][rows]


def parameters(size, random):
    return {"weight": layers.he(random, (4, 2), 4)}


def batch(size, random, source):
    return examples(source, random.permutation(60)[: size["batch"]])


def loss(size, parameters, state, batch):
    return layers.cross_entropy(batch[0] @ parameters["weight"], batch[1]), state


def items(size):
    return size["batch"]


def useful_flops(size):
    return 48.0 * size["batch"]


def compulsory_bytes(size, itemsize):
    return 16.0 * itemsize
'''
IMPLEMENTATION = '''
"""Implements marks-train in NumPy; PLANTED says which mistake it has."""

import os

import numpy as np

from bench.frameworks.numpy.adapter import training
from bench.frameworks.numpy.programs import cross_entropy

from . import OPTIMIZER

#: More steps than the check against float64 does, at four of warming up.
LATE = 8


def build(size, parameters, batch, transform):
    planted = os.environ.get("PLANTED", "")
    steps = [0]

    def loss_and_gradients(weights, inputs, labels):
        steps[0] += 1
        late = steps[0] > LATE
        if planted == "labels" and late:
            labels = 1 - labels
        loss, gradient = cross_entropy(inputs @ weights["weight"], labels)
        gradient = inputs.T @ gradient
        return loss, {"weight": gradient * 1.2 if planted == "late rate" and late else gradient}

    settings = dict(OPTIMIZER, learning_rate=0.6) if planted == "rate" else OPTIMIZER
    program = training(loss_and_gradients, parameters, transform, settings)
    if planted == "silent":
        return program
    scale = np.inf if planted == "diverged" else 1.0
    return program._replace(evaluate=lambda inputs: inputs @ program.parameters()["weight"] * scale)
'''


def write(folder: Path, **planted: str) -> Path:
    """Write a project whose environments are ``one``, which is right, and others, {name: its mistake}."""
    place = folder / "mine" / "workloads" / "marks_train"
    place.mkdir(parents=True, exist_ok=True)
    (place / "__init__.py").write_text(SPECIFICATION)
    (place / "numpy.py").write_text(IMPLEMENTATION)
    named = {"one": "", **(planted or {"other": ""})}
    environments = "".join(
        ENVIRONMENT.format(name=name, python=sys.executable, planted=mistake) for name, mistake in named.items()
    )
    (folder / "matrix.toml").write_text(STUDY.format(environments=environments, default=json.dumps(list(named))))
    return folder
