"""Tests the sentences that say which column is fastest on average, and which version in its best modes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.analysis.best_modes import BestModes, BestOfVersion
from bench.host.analysis.speed_ups import Track
from bench.host.reporting.words.answer import fastest, settings
from bench.host.reporting.words.best_modes import best_per_row
from bench.host.reporting.words.labels import Label
from bench.host.statistics.bootstrap import Estimate

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
        # Where the baseline may be as fast, it is named before what is slower.
        (
            (1.0, 0.8, 0.7, 1.03),
            ("jax:jit", "old:eager", "new:eager"),
            "JAX 0.10 jit 1.03 or PyTorch 1.13 eager 1.00 (unclear).",
        ),
    ],
)
def test_the_fastest_is_compared_with_what_says_most(means, leaders, said):
    found = {column: mean for column, mean in zip(NAMES, means, strict=True) if mean is not None}
    (text,) = fastest(Track("cpu", 1, found, 9, 9), False, "old:eager", NAMES, leaders)
    assert text.startswith("Fastest on average: ")
    assert text.endswith(said)


def test_few_rows_are_named_as_the_reason_why_the_fastest_is_unclear():
    means = dict(zip(NAMES, (1.0, 1.4, 1.5, 1.2), strict=True))
    (text,) = fastest(Track("cpu", 1, means, 3, 3), False, "old:eager", NAMES, ("new:compile", "jax:jit"))
    assert text.endswith("compile 1.50 or JAX 0.10 jit 1.20 (unclear: 3 rows).")


def best(*versions: tuple[str, float, bool], alone: int = 0) -> BestModes:
    every = [
        BestOfVersion(column.partition(":")[0], (column,), Estimate(1.0 / speed_up, None, None, 9), leads)
        for column, speed_up, leads in versions
    ]
    return BestModes(tuple(every), 9, alone)


NEW, JAX, OLD = ("new:eager", 2.1, True), ("jax:jit", 2.02, False), ("old:eager", 1.24, False)


def test_the_versions_in_their_best_modes_stand_on_one_line_as_far_as_they_fit():
    (text,) = best_per_row(best(NEW, JAX, OLD), NAMES)
    assert text == "Best mode per row: PyTorch 2.15 (2.10); JAX 0.10 (2.02); PyTorch 1.13 (1.24)."
    (tied,) = best_per_row(best(NEW, ("jax:jit", 2.02, True), OLD), NAMES)
    assert tied == "Best mode per row: PyTorch 2.15 (2.10) or JAX 0.10 (2.02); PyTorch 1.13 (1.24)."
    (three,) = best_per_row(best(NEW, ("jax:jit", 2.02, True), ("old:eager", 1.9, True)), NAMES)
    assert three == "Best mode per row: PyTorch 2.15 (2.10) or JAX 0.10 (2.02) or PyTorch 1.13 (1.90)."
    long = NAMES | {"old:eager": Label("W" * 45, "1", "eager")}
    assert best_per_row(best(NEW, JAX, OLD), long) == ["Best mode per row: PyTorch 2.15 (2.10); JAX 0.10 (2.02)."]


def test_another_leader_than_on_average_is_explained():
    """A page named PyTorch 1.13 as the fastest on average, and two lines below PyTorch 2.15, without a reason."""
    means = {"old:eager": 1.3, "new:eager": 1.2, "jax:jit": 1.1}
    versions = best(NEW, JAX, OLD)
    (text,) = best_per_row(versions, NAMES, Track("cpu", 1, means, 8, 9))
    assert text == (
        "Best mode per row (9 rows), not one mode for all: PyTorch 2.15 (2.10); JAX 0.10 (2.02); PyTorch 1.13 (1.24)."
    )
    (same,) = best_per_row(versions, NAMES, Track("cpu", 1, means | {"new:eager": 1.4}, 8, 9))
    assert same == "Best mode per row (9 rows): PyTorch 2.15 (2.10); JAX 0.10 (2.02); PyTorch 1.13 (1.24)."


def test_a_version_with_one_mode_has_its_mean_in_the_table():
    """Two estimates of one mean stood in two lines: 1.66 and 1.64."""
    means = {"new:eager": 2.14, "jax:jit": 2.05, "old:eager": 1.0}
    (text,) = best_per_row(best(NEW, JAX), NAMES, Track("cpu", 1, means, 9, 9))
    assert text == "Best mode per row: PyTorch 2.15 (2.14); JAX 0.10 (2.05)."
    (fewer,) = best_per_row(best(NEW, JAX), NAMES, Track("cpu", 1, means, 8, 9))
    assert fewer == "Best mode per row (9 rows): PyTorch 2.15 (2.10); JAX 0.10 (2.02)."
    several = replace(best(NEW, JAX).versions[0], columns=("new:eager", "new:compile"))
    (text,) = best_per_row(
        replace(best(NEW, JAX), versions=(several, best(JAX).versions[0])), NAMES, Track("cpu", 1, means, 9, 9)
    )
    assert text == "Best mode per row: PyTorch 2.15 (2.10); JAX 0.10 (2.05)."
    # Tied versions stand in the order of the numbers that are shown, not of those that are not.
    tied = best(NEW, ("jax:jit", 2.02, True))
    (text,) = best_per_row(tied, NAMES, Track("cpu", 1, means | {"jax:jit": 2.2}, 9, 9))
    assert text.endswith("JAX 0.10 (2.20) or PyTorch 2.15 (2.14).")


def test_settings_are_named_as_far_as_they_fit_in_a_line():
    names = ("instruction set", "fused optimizer", "attention", "layout")
    (three,) = settings({"a": names[1:]})
    assert three.endswith("differ: fused optimizer, attention, layout.")
    (two,) = settings({"a": names})
    assert two.endswith("differ: instruction set, fused optimizer, …")
    (one,) = settings({"a": ("x" * 90,)})
    assert "x" * 90 in one


def test_nothing_is_said_of_best_modes_that_single_processes_chose():
    assert best_per_row(best(NEW, JAX, OLD, alone=9), NAMES) == []
    assert best_per_row(None, NAMES) == []


def test_versions_with_one_name_have_that_of_their_environments():
    twins = {"a:jit": Label("JAX", "0.10", "jit"), "b:eager": Label("JAX", "0.10", "eager")}
    (text,) = best_per_row(best(("a:jit", 2.0, True), ("b:eager", 1.0, False)), twins)
    assert text == "Best mode per row: a (2.00); b (1.00)."
