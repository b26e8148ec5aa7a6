"""Knows which frameworks there are and how to reach the adapter of one.

An adapter is ``bench/frameworks/<framework>.py``, its parts beside it in files that are named after it too, with a
class ``Adapter(mode, device, precision, threads)``; constructing one allocates nothing on a GPU:

  put(array)            a NumPy array on the device, floats in the cell's precision, integers as they are
  get(value)            back as a NumPy array, floats as float64
  synchronize(outputs)  return only when every array in the dictionary has been computed
  transform(function)   the function or module as the mode executes it; raises Unsupported where the mode does not
                        exist. Keyword ``training`` says whether it will be differentiated, ``settings`` is a function
                        that reads back what only the program knows to be in force.
  settings()            what is really in force, read back from the framework, by the names below
  compilation()         what the mode compiled so far: ``compiled`` (nothing; forward; forward and backward; forward,
                        backward and optimizer), and where it can be counted ``graphs``, ``graph_breaks``,
                        ``graph_break_reasons``, ``traces`` and ``compilations``, which rises whenever anything is
                        compiled again
  versions()            of the libraries that compute
  memory()              what the framework's allocator reports, in bytes; empty where it reports nothing
  limit_memory(bytes)   make allocations on the GPU fail beyond this; before anything is put there. Raises Unsupported
                        where there is no such limit.
  multiply(a, b)        the framework's fastest product of two square matrices, for measuring the machine
  copy(a)               its fastest copy; both may reuse the memory of what they returned before

Settings have one name and one wording in all adapters, so that a table can compare them; what a framework cannot tell
is left out: threads, interop threads, float32 matmul (highest, tf32, bf16), TF32 matmul, TF32 convolution, x64, layout,
CUDA graphs, donation, cuDNN autotuning, cuDNN deterministic, fused optimizer, allocator, instruction set, compiled,
BLAS, kernels.
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
    return importlib.import_module("bench.frameworks.{}.adapter".format(framework))
