"""Tests that a program's logits, from which a training to a result is judged, are those of its current parameters."""

from __future__ import annotations

import pytest
from environment import run
from modes import cases


@pytest.mark.parametrize("workload", ["lenet-train", pytest.param("catdog-cnn-train", marks=pytest.mark.long)])
@cases(
    "torch1:torchscript", "torch2:eager", "tf2:function", "jax:jit", "flax:nnx", "flax:nnx-functional", "flax:linen",
    "haiku:jit", "lightning:fit", "keras-tf:train-on-batch", "tf1:session", "tf2-session:session", "theano:function",
)  # fmt: skip
def test_logits_are_those_of_the_current_parameters(environment, mode, workload):
    found, expected = run(environment, "evaluation", mode, workload)
    assert found == pytest.approx(expected, rel=1e-4)
