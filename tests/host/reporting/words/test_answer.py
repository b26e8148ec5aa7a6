"""Tests the sentence that says which column is fastest on average."""

from __future__ import annotations

import pytest

from bench.host.analysis.speed_ups import Track
from bench.host.reporting.words.answer import fastest
from bench.host.reporting.words.labels import Label

NAMES = {
    "old:eager": Label("PyTorch", "1.13", "eager"),
    "new:eager": Label("PyTorch", "2.15", "eager"),
    "new:compile": Label("PyTorch", "2.15", "compile"),
    "jax:jit": Label("JAX", "0.10", "jit"),
}


@pytest.mark.parametrize(
    ("means", "leaders", "said"),
    [
        # The next one is of another version, …
        ((1.0, 1.4, 1.5, 1.2), ("new:compile",), "PyTorch 2.15 compile, 1.50 times as fast; JAX 0.10 jit 1.20."),
        (
            (1.0, 1.4, 1.5, 1.2),
            ("new:compile", "new:eager", "jax:jit"),
            "compile 1.50 or JAX 0.10 jit 1.20 (unclear).",
        ),
        # … unless only a sibling may be as fast, …
        ((1.0, 1.4, 1.5, 1.2), ("new:compile", "new:eager"), "compile 1.50 or PyTorch 2.15 eager 1.40 (unclear)."),
        # … and not the baseline, where there is another.
        ((1.0, 1.4, 1.5, None), ("new:compile",), "PyTorch 2.15 compile, 1.50 times as fast; PyTorch 2.15 eager 1.40."),
        ((1.0, None, 1.5, None), ("new:compile",), "2.15 compile, 1.50 times as fast; PyTorch 1.13 eager 1.00."),
    ],
)
def test_the_fastest_is_compared_with_what_says_most(means, leaders, said):
    found = {column: mean for column, mean in zip(NAMES, means, strict=True) if mean is not None}
    (text,) = fastest(Track("cpu", 1, found, 9, 9), False, "old:eager", NAMES, leaders)
    assert text.startswith("Fastest on average: ")
    assert text.endswith(said)
