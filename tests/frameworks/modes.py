"""Lists the modes in which adapters are tested, and marks the tests of an environment to run in one process."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from environment import THREADS, default_study, framework, run

MODES = [
    ("torch1", "eager"),
    ("torch1", "torchscript"),
    ("torch1", "torchscript-trace"),
    ("torch1", "functorch"),
    ("torch1", "ddp"),
    ("torch1", "optimizer-foreach"),
    ("torch2", "eager"),
    ("torch2", "compile"),
    ("torch2", "compile-step"),
    ("torch2", "compile-optimizer"),
    ("torch2", "functorch"),
    ("torch2", "ddp"),
    ("torch2", "optimizer-loop"),
    ("torch2", "optimizer-foreach"),
    ("torch2", "compile-max-autotune"),
    ("tf2", "eager"),
    ("tf2", "eager-fused"),
    ("tf2", "function"),
    ("tf2", "xla"),
    ("tf2", "function-concrete"),
    ("tf2", "xla-concrete"),
    ("tf2", "xla-auto"),
    ("tf2", "mirrored"),
    ("jax", "eager"),
    ("jax", "jit"),
    ("jax", "jit-async"),
    ("jax", "jit-loop"),
    ("jax", "jit-aot"),
    ("jax", "pmap"),
    ("jax", "shard-map"),
]
#: Modes of environments outside the default study, which ``nox -s grid`` builds: those that train, and the others.
GRID = [
    ("keras-tf", "fit"),
    ("keras-tf", "fit-jit"),
    ("keras-tf", "train-on-batch"),
    ("keras2-tf", "fit"),
    ("keras2-tf", "fit-jit"),
    ("keras2-tf", "train-on-batch"),
    ("keras-jax", "fit"),
    ("keras-jax", "train-on-batch"),
    ("keras-torch", "fit"),
    ("keras-torch", "fit-jit"),
    ("keras-torch", "train-on-batch"),
    ("flax", "nnx"),
    ("flax", "nnx-functional"),
    ("flax", "linen"),
    ("haiku", "jit"),
    ("lightning", "fit"),
    ("lightning", "fit-compile"),
    ("tf1", "session"),
    ("tf2-session", "session"),
    ("theano", "function"),
    ("jax-newest", "eager"),
    ("jax-newest", "jit"),
    ("jax-newest", "jit-loop"),
    ("jax-newest", "jit-aot"),
    ("jax-newest", "pmap"),
    ("jax-newest", "shard-map"),
]
GRID_INFERENCE = [
    ("keras-tf", "predict"),
    ("keras-tf", "predict-jit"),
    ("keras2-tf", "predict"),
    ("keras2-tf", "predict-jit"),
    ("keras-jax", "predict"),
    ("keras-torch", "predict"),
    ("keras-torch", "predict-jit"),
    ("tflite", "float32"),
    ("tflite", "int8"),
]
#: Of these each workload is checked in a process of its own.
GRID_LAZY = [("torch-xla", "xla"), ("torch-xla", "compile-openxla")]
#: This one is for input pipelines alone.
GRID_INPUT = [("jax-grain", "eager"), ("jax-grain", "jit")]
#: Columns of the default study whose compiler takes longest.
LONG = ("compile", "compile-step", "xla")
#: Environments whose tests take longest: a process for each mode.
BY_MODE = ("keras-torch", "lightning", "torch-xla")
#: Modes in which two devices share a step, each with a thread of its own.
SEVERAL = ("pmap", "shard-map", "mirrored", "ddp")
#: The variable in which ``nox -s grid`` names the environments that it prepared.
WANTED = "BENCHMATRIX_GRID"
WHOLE_STEP = "forward, backward and optimizer"
COMPILED = {
    "eager": "nothing",
    "eager-fused": "nothing",
    "torchscript": "forward and backward",
    "torchscript-trace": "forward and backward",
    "functorch": "nothing",
    "ddp": "nothing",
    "autocast": "nothing",
    "channels-last": "nothing",
    "channels-first": "nothing",
    "optimizer-loop": "nothing",
    "optimizer-foreach": "nothing",
    "compile-optimizer": "optimizer",
    "compile": "forward and backward",
    "compile-step": WHOLE_STEP,
    "compile-max-autotune": "forward and backward",
    "function": WHOLE_STEP,
    "xla": WHOLE_STEP,
    "function-concrete": WHOLE_STEP,
    "xla-concrete": WHOLE_STEP,
    "xla-auto": WHOLE_STEP,
    "jit": WHOLE_STEP,
    "jit-async": WHOLE_STEP,
    "jit-loop": WHOLE_STEP,
    "jit-aot": WHOLE_STEP,
    "mirrored": WHOLE_STEP,
    "pmap": WHOLE_STEP,
    "shard-map": WHOLE_STEP,
    "float32": "forward",
    "int8": "forward",
    "lightning:fit": "nothing",
    "lightning:fit-compile": "forward and backward",
    # Keras compiles on TensorFlow and JAX without being asked.
    "keras-torch:fit": "nothing",
    "keras-torch:train-on-batch": "nothing",
    "keras-torch:predict": "nothing",
}
#: Of the settings that adapters read back.
NAMES = {
    "threads", "interop threads", "float32 matmul", "TF32 matmul", "TF32 convolution", "x64", "layout", "CUDA graphs",
    "donation", "cuDNN autotuning", "cuDNN deterministic", "fused optimizer", "allocator", "instruction set",
    "compiled", "BLAS", "kernels", "dispatch", "synchronised", "optimizer", "attention", "frozen weights",
    "devices", "generated for", "on the processor",
}  # fmt: skip


def marks(environment: str, mode: str = "") -> list[pytest.MarkDecorator]:
    """Return the marks of a test that needs an environment; its tests share a process, which imports once."""
    if environment == "numpy":
        return []
    group = f"{environment}-{mode}" if environment in BY_MODE else environment
    found = [pytest.mark.real, pytest.mark.xdist_group(f"adapters-{group}")]
    if any(environment == name for name, _ in (*GRID, *GRID_INFERENCE, *GRID_LAZY, *GRID_INPUT)):
        found.append(pytest.mark.grid)
        wanted = environment in os.environ.get(WANTED, "").split()
        found.append(pytest.mark.skipif(not wanted, reason="the environment is one of nox -s grid"))
    return found


def compiled(environment: str, mode: str, training: bool = True) -> str:
    """Return what a mode compiles of a training program, or of one for inference."""
    found = COMPILED.get(f"{environment}:{mode}", COMPILED.get(mode, WHOLE_STEP))
    return found if training or found == "nothing" else "forward"


def needs(environment: str, mode: str = "") -> Callable[[Any], Any]:
    """Mark a test that needs an environment, and what is found there in one mode where it is ``BY_MODE``."""

    def mark(test: Any) -> Any:
        for each in marks(environment, mode):
            test = each(test)
        return test

    return mark


def is_usual(environment: str, mode: str) -> bool:
    """Return whether a mode is a column of the default study that does not take long. ``nox -s grid`` has the others.

    ``nox -s tests`` has cells of those that take long, too, see ``test_default_study.py``.
    """
    study = default_study()
    if environment not in study.settings.default:
        return environment == "numpy"
    return mode in study.environments[environment].modes and mode not in LONG


def case(environment: str, mode: str, *values: object, long: bool = False) -> Any:
    """Return the parameters of a test in one mode: ``environment``, ``mode`` and ``values``.

    ``long`` leaves it to ``nox -s grid`` although the mode is a usual one.
    """
    name = "-".join(map(str, (environment, mode, *values)))
    found = marks(environment, mode)
    if long or not is_usual(environment, mode):
        found.append(pytest.mark.long)
    if mode in SEVERAL:
        found.append(pytest.mark.skipif(THREADS < 2, reason="two devices need two processors"))
    return pytest.param(environment, mode, *values, marks=found, id=name)


def cases(*names: str, long: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """Let a test run in these modes, each given as ``<environment>:<mode>``.

    Those of ``long`` are left to ``nox -s grid`` although they are usual ones.
    """
    found = [case(*name.split(":"), long=name in long) for name in (*names, *long)]
    return pytest.mark.parametrize(("environment", "mode"), found)


every_mode = pytest.mark.parametrize(
    ("environment", "mode"), [*(case(*each) for each in (*MODES, *GRID, *GRID_LAZY)), case("numpy", "eager")]
)
torch_modes = cases(
    *(
        f"{environment}:{mode}"
        for environment, mode in MODES
        if framework(environment) == "torch" and mode not in SEVERAL
    )
)


def trial(environment: str, mode: str) -> dict[str, Any]:
    """Return what trial.py finds in a mode."""
    found: dict[str, Any] = run(environment, "trial", mode)
    return found
