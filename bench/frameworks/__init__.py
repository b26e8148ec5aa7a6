"""Knows which frameworks there are and how to reach the adapter of one.

An adapter is ``bench/frameworks/<framework>.py`` with a class ``Adapter(mode, device, precision, threads)``:

  put(array)            a NumPy array on the device, floats in the cell's precision, integers as they are
  get(value)            back as a NumPy array, floats as float64
  synchronize(outputs)  return only when every array in the dictionary has been computed
  transform(function)   the function or module as the mode executes it; raises Unsupported where the mode does not
  exist.
                        Keyword ``training`` says whether it will be differentiated.
  settings()            what is really in force, read back from the framework
  versions()            of the libraries that compute
  memory()              what the framework's allocator reports, in bytes; empty where it reports nothing
"""

from __future__ import annotations

import importlib
from typing import Any

# Both rings read this table: the host validates a study's modes without importing any framework.
MODES = {
    "torch": ("eager", "torchscript", "compile"),
    "tensorflow": ("eager", "function", "xla"),
    "jax": ("eager", "jit"),
    "numpy": ("eager",),
}


def load_adapter(framework: str) -> Any:
    """Import the adapter module of ``framework``, and with it the framework; raises ImportError where that fails."""
    if framework not in MODES:
        raise ValueError("unknown framework {!r}; known: {}".format(framework, ", ".join(MODES)))
    return importlib.import_module("bench.frameworks." + framework)
