"""Tests the input pipelines of the frameworks, each in its environment."""

from __future__ import annotations

import pytest
from environment import THREADS, agreement, framework, run
from modes import case, cases, compiled

pytestmark = pytest.mark.long

NAMES = {
    "torch": "DataLoader", "tensorflow": "tf.data", "jax": "grain 0.2.18", "numpy": "generator", "keras": "PyDataset",
}  # fmt: skip
#: Whose pipeline Keras takes; JAX has none.
PIPELINES = {"keras-tf": "tensorflow", "keras-torch": "torch", "keras-jax": "keras"}
#: Workers or threads beside the step.
BESIDE = {"torch": THREADS - 1, "tensorflow": THREADS, "jax": THREADS - 1, "numpy": 0}
EACH = ["torch1", "torch2", "tf2", "jax-grain", "numpy"]
pipelines = pytest.mark.parametrize(("environment", "mode"), [case(name, "eager") for name in EACH])


@pipelines
def test_the_order_of_examples_is_that_of_the_specification_in_every_run(environment, mode):
    error, *_ = run(environment, "pipelines")
    # Images are at most 1.85; a wrong label is off by 1.
    assert error < 1e-6


@pipelines
def test_no_pipeline_works_after_a_run(environment, mode):
    _, worked_s, *_ = run(environment, "pipelines")
    assert worked_s <= 0.02


@pipelines
def test_a_pipeline_says_what_works_beside_the_step_and_ends_it(environment, mode):
    _, _, settings, processes, left = run(environment, "pipelines")
    name = framework(environment)
    assert settings["pipeline"] == NAMES[name]
    assert settings["pipeline workers"] == BESIDE[name]
    assert processes == (BESIDE[name] if name == "torch" else 0)
    assert left == 0


@cases(
    "torch1:eager", "torch1:torchscript", "torch2:eager", "torch2:compile", "torch2:compile-step",
    "tf2:eager", "tf2:function", "tf2:xla", "jax-grain:eager", "jax-grain:jit", "keras-tf:fit", "keras-torch:fit",
    "keras-jax:fit", "keras-jax:train-on-batch",
)  # fmt: skip
def test_a_step_that_a_pipeline_feeds_agrees_with_float64(environment, mode):
    share, settings = agreement(environment, mode, "lenet-input")["lenet-input"]
    assert share <= 1
    assert settings["compiled"] == compiled(environment, mode)
    assert settings["pipeline"] == NAMES[PIPELINES.get(environment, framework(environment))]
    assert settings["layout"]


@cases("jax:jit")
def test_jax_without_grain_has_no_pipeline(environment, mode):
    found = agreement(environment, mode, "lenet-input")
    assert found == {"lenet-input": "grain is not installed, and JAX has no input pipeline of its own: see jax-grain"}


@cases("torch2:compile-step", "tf2:function", "numpy:eager")
def test_the_pipeline_alone_has_one_mode(environment, mode):
    found = agreement(environment, mode, "input-pipeline")["input-pipeline"]
    if mode == "eager":
        assert found[0] <= 1
    else:
        assert found == "nothing of an input pipeline is compiled: see eager"
