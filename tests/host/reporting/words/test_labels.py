"""Tests that columns are named for people, and that no two columns have one name."""

from __future__ import annotations

import pytest

from bench.cell import Cell
from bench.host.analysis.results import Result
from bench.host.reporting.words.labels import in_order, labels_of
from bench.record import Record


def result(environment: str, version: str, mode: str = "jit", framework: str = "jax", **settings: str) -> Result:
    cell = Cell(environment, framework, mode, "gemm", "tiny", "float32", "cpu", 1)
    versions = {framework: version} if version else {}
    return Result(cell, "ok", records=(Record(cell, 0, 1, "ok", versions=versions, settings=settings),))


@pytest.mark.parametrize(
    ("versions", "names"),
    [
        (("0.4.13", "0.5.3"), ["JAX 0.4 jit", "JAX 0.5 jit"]),
        (("0.4.13", "0.4.30", "0.5.3"), ["JAX 0.4.13 jit", "JAX 0.4.30 jit", "JAX 0.5 jit"]),
        (("2.11.0", "2.11.0.dev1"), ["JAX 2.11.0 jit", "JAX 2.11.0.dev1 jit"]),
        # One version twice: only the environments differ.
        (("0.5.3", "0.5.3+cu12"), ["a 0.5 jit", "b 0.5 jit"]),
        (("0.5.3", "0.5.3", "0.5.4"), ["a 0.5 jit", "b 0.5 jit", "JAX 0.5.4 jit"]),
        (("", ""), ["a jit", "b jit"]),
    ],
)
def test_versions_are_as_long_as_they_must_be_to_tell_columns_apart(versions, names):
    labels = labels_of([result(environment, version) for environment, version in zip("abc", versions, strict=False)])
    assert [label.text for label in labels.values()] == names


@pytest.mark.parametrize(
    ("environments", "names"),
    [
        (("jax", "jax-box", "jax-fast"), ["JAX 0.5 jit", "jax-box 0.5 jit", "jax-fast 0.5 jit"]),
        (("jax-box", "jax"), ["jax-box 0.5 jit", "JAX 0.5 jit"]),
        # No environment is the one that the others are named after.
        (("jax", "jaxon"), ["jax 0.5 jit", "jaxon 0.5 jit"]),
        (("jax", "jax-box", "other"), ["jax 0.5 jit", "jax-box 0.5 jit", "other 0.5 jit"]),
    ],
)
def test_an_environment_keeps_the_frameworks_name_beside_those_that_are_named_after_it(environments, names):
    labels = labels_of([result(environment, "0.5.3") for environment in environments])
    assert [label.text for label in labels.values()] == names


def test_those_that_are_named_after_it_have_their_names_in_modes_that_it_lacks_too():
    pairs = [("jax-box", "eager"), ("jax", "jit"), ("jax-box", "jit"), ("jax", "pmap")]
    labels = labels_of([result(environment, "0.5.3", mode) for environment, mode in pairs])
    assert [label.text for label in labels.values()] == [
        "jax-box 0.5 eager", "JAX 0.5 jit", "jax-box 0.5 jit", "JAX 0.5 pmap",
    ]  # fmt: skip


def test_beside_another_patch_release_it_keeps_the_whole_version():
    versions = {"jax": "0.5.3", "jax-box": "0.5.3", "newer": "0.5.4"}
    labels = labels_of([result(*pair) for pair in versions.items()])
    assert [label.text for label in labels.values()] == ["JAX 0.5.3 jit", "jax-box 0.5 jit", "JAX 0.5.4 jit"]


def test_one_with_preloaded_libraries_has_its_own_name_alone_and_beside_others():
    preloaded = result("jax-fast", "0.5.3", LD_PRELOAD="libfast.so")
    alone = labels_of([preloaded, result("old", "0.4.13")])
    assert [label.text for label in alone.values()] == ["jax-fast 0.5 jit", "JAX 0.4 jit"]
    beside = labels_of([result("a", "0.5.3"), preloaded, result("old", "0.5.4")])
    assert [label.text for label in beside.values()] == ["JAX 0.5.3 jit", "jax-fast 0.5 jit", "JAX 0.5.4 jit"]
    # It does not take the name from those that have it without.
    taken = labels_of([result("a", "0.5.3"), preloaded])
    assert [label.text for label in taken.values()] == ["JAX 0.5 jit", "jax-fast 0.5 jit"]


def test_modes_of_one_version_share_its_short_name():
    labels = labels_of([result("a", "0.4.13"), result("a", "0.4.13", "eager"), result("b", "0.5.3", "eager")])
    assert [label.text for label in labels.values()] == ["JAX 0.4 jit", "JAX 0.4 eager", "JAX 0.5 eager"]


def test_a_cell_that_ended_before_its_import_has_the_version_of_its_environment():
    labels = labels_of([result("a", "", "pmap"), result("a", "0.4.13"), result("b", "", "eager")])
    assert [label.text for label in labels.values()] == ["JAX 0.4 pmap", "JAX 0.4 jit", "JAX eager"]


def test_a_long_version_is_ordered_among_short_ones():
    versions = {"new": "0.10.2", "thirty": "0.4.30", "thirteen": "0.4.13", "five": "0.5.3"}
    labels = labels_of([result(*pair) for pair in versions.items()])
    assert in_order(list(labels), labels) == ["thirteen:jit", "thirty:jit", "five:jit", "new:jit"]
