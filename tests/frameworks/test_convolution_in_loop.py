"""Tests the convolution of JAX's loops, whose gradients are written by hand."""

from __future__ import annotations

import pytest
from environment import run
from modes import needs


@pytest.mark.long
@needs("jax")
def test_the_gradients_of_a_convolution_in_a_loop_are_those_of_jax():
    found = run("jax", "slopes_in_loop")
    assert max(found["differences"]) < 1e-12
    assert found["in a loop"] == [True, False, False]
