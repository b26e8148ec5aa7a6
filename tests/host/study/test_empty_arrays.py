"""Tests that an array which must hold something is refused in plain English, with its table and the remedy."""

from __future__ import annotations

from typing import Any

import pytest
from study_tables import changed, errors_of


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ("study", "default"),
            [],
            "study: default: [] is empty; add at least one value. "
            "The environments that run when none is named on the command line.",
        ),
        (
            ("environments", "new", "modes"),
            [],
            "environments.new: modes: [] is empty; add at least one value. How the framework executes;",
        ),
        (
            ("profiles", "quick", "sizes"),
            [],
            "profiles.quick: sizes: [] is empty; add at least one value. The sizes of each workload that are measured.",
        ),
        (
            ("profiles", "quick", "sizes_of"),
            {"mlp-train": []},
            "profiles.quick: sizes_of.mlp-train: [] is empty; add at least one value, or remove the key. Other sizes",
        ),
        (
            ("workloads", "mlp-train", "sizes"),
            [],
            "workloads.mlp-train: sizes: [] is empty; add at least one value, or remove the key. The sizes that may be",
        ),
    ],
)
def test_an_empty_array_is_refused_with_what_it_holds(path: tuple[str, ...], value: Any, said: str) -> None:
    (error,) = errors_of(changed(*path, value=value))
    assert error.startswith(f"matrix.toml: {said}")
