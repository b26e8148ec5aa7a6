"""Knows which workloads there are: a folder is a workload's registration, a file in it a framework's implementation.

A specification (``bench/workloads/<workload>/__init__.py``) imports NumPy only and defines:

  ITEM          what a step processes, in the singular ("image", "row", "token", "step")
  SIZES         {name: {parameter: int}}; always "check" (parity in milliseconds), "tiny" and "small", often "medium"
  PRECISIONS    the precisions it is specified for
  TRAINING      whether a step updates parameters
  parameters(size, random)            {name: float32 array}, drawn from a numpy RandomState
  batch(size, random, source=None)    tuple of float32 and int32 arrays: one step's input
  items(size), useful_flops(size), compulsory_bytes(size, itemsize)     per step
  inference:  reference(size, parameters, batch) -> {name: array}, computed in the dtype of what it is given
  training:   loss_and_gradients(size, parameters, batch) -> (loss, {name: gradient}), likewise, and OPTIMIZER, a
  dictionary
              {"name": "sgd", "learning_rate": …} (or "momentum", "adam") that bench.worker.checking.parity applies
              to the reference
  optional:   source(path=None) -> (anything batch() understands, a description for the record)
              write_archive(folder, path, progress): make of a folder what source() reads; the host calls it once
              TOLERANCE_FACTOR: the candidate may err by this many times what the precision itself does (default in
              bench.worker.checking.parity)
              FLOPS_DIVISOR: how many times fewer operations than useful_flops the fastest known algorithm needs; a time
              below what the machine needs for that many is an error (default 1)

An implementation (``bench/workloads/<workload>/<framework>.py``) imports its framework and its own specification and
defines ``build(size, parameters, batch, transform) -> bench.program.Program``: ``size`` is the preset's dictionary,
``parameters`` and ``batch`` are the specification's arrays already on the device, ``transform`` is a
bench.program.Transform.
No such file means *unsupported*; an ImportError inside one that exists means *failed*.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, List

from ..program import Unsupported

FOLDER = os.path.dirname(os.path.abspath(__file__))


def names() -> List[str]:
    """List the workloads by their names in a study file (``mlp-train`` for the folder ``mlp_train``)."""
    return sorted(
        entry.replace("_", "-")
        for entry in os.listdir(FOLDER)
        if not entry.startswith("_") and os.path.isfile(os.path.join(FOLDER, entry, "__init__.py"))
    )


def load_specification(workload: str) -> Any:
    """Import a workload's specification module; raises ValueError for a name that is no workload."""
    if workload not in names():
        raise ValueError("unknown workload {!r}; known: {}".format(workload, ", ".join(names())))
    return importlib.import_module("bench.workloads." + workload.replace("-", "_"))


def load_implementation(workload: str, framework: str) -> Any:
    """Import ``build`` of a workload for a framework; raises Unsupported where the file does not exist."""
    folder = workload.replace("-", "_")
    if not os.path.isfile(os.path.join(FOLDER, folder, framework + ".py")):
        raise Unsupported("workload {} has no {} implementation".format(workload, framework))
    return importlib.import_module("bench.workloads.{}.{}".format(folder, framework)).build
