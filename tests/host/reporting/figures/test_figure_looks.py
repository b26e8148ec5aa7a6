"""Tests what names, colours and markers figures give to columns."""

from __future__ import annotations

import itertools
import random
import tomllib
from collections import Counter
from pathlib import Path

import matplotlib
import pytest

from bench.host.reporting.figures import legend, style
from bench.host.reporting.words.labels import Label

STUDIES = [Path(__file__).parents[4] / name for name in ("matrix.toml", "studies/full.toml")]


def test_names_that_differ_at_their_ends_are_cut_so_that_they_still_differ():
    names = [
        "turbulent-kinetic-energy, tiny",
        "turbulent-kinetic-energy, tiny, float64",
        "turbulent-kinetic-energy, tiny, bfloat16",
        "layernorm-softmax-backward-with-a-tail",
        "layernorm-softmax-backward-with-a-trail",
        "W" * 300,
        "W" * 301,
    ]
    shown = legend.cut_names(names)
    assert shown[:3] == [
        "turbulent-kinetic-energy, tiny",
        "turbulent-kine…, tiny, float64",
        "turbulent-kin…, tiny, bfloat16",
    ]
    assert len(set(shown)) == len(names)
    assert all(len(name) <= legend.NAME for name in shown)
    assert legend.cut_names(shown) == shown
    assert legend.cut_names(["gemm", "gemm"]) == ["gemm", "gemm"]


def test_a_mode_has_its_marker_in_every_study_and_an_older_version_of_it_another():
    labels = {
        "a:eager": Label("PyTorch", "1.13", "eager"),
        "a:torchscript": Label("PyTorch", "1.13", "torchscript"),
        "b:eager": Label("PyTorch", "2.15", "eager"),
        "b:compile": Label("PyTorch", "2.15", "compile"),
        "b:own": Label("PyTorch", "2.15", "of-others"),
        "j:jit": Label("JAX", "0.10", "jit"),
    }
    whole = style.styles_of(list(labels), labels)
    for own in (["b:compile", "j:jit"], ["j:jit", "b:eager", "b:compile"], ["a:torchscript", "b:own", "b:compile"]):
        found = style.styles_of(own, labels)
        same = [column for column in own if column != "b:own"]
        assert {column: found[column].marker for column in same} == {column: whole[column].marker for column in same}
        assert len({one.marker for one in found.values()}) == len(own)
    assert whole["a:eager"].marker != whole["b:eager"].marker
    assert set("".join(style.MARKER_OF.values())) <= set(style.MARKERS)


def test_a_framework_keeps_its_colour_under_the_name_of_an_environment():
    labels = {
        "keras-tf:fit": Label("keras-tf", "3.15", "fit", "Keras"),
        "keras-jax:fit": Label("keras-jax", "3.15", "fit", "Keras"),
        "keras2:fit": Label("Keras", "2.12", "fit", "Keras"),
    }
    new, also_new, old = style.styles_of(list(labels), labels).values()
    assert new.colour == also_new.colour == matplotlib.colors.to_rgb(style.COLOURS["Keras"])
    assert sum(old.colour) > sum(new.colour)


def test_other_peoples_frameworks_have_colours_that_no_framework_of_the_figure_has():
    labels = {name: Label(name, "1.0", "run", name) for name in ("Keras", "Flax", "Toy", "Game")}
    found = style.styles_of(list(labels), labels)
    assert len({one.colour for one in found.values()}) == 4
    assert style.COLOURS["NumPy"] != style.COLOURS["Haiku"]


def test_a_framework_has_one_colour_a_column_one_marker():
    columns = ["a:eager", "b:eager", "b:compile", "j:jit"]
    labels = dict(
        zip(
            columns,
            [
                Label("PyTorch", "1.13", "eager"),
                Label("PyTorch", "2.15", "eager"),
                Label("PyTorch", "2.15", "compile"),
                Label("JAX", "0.10", "jit"),
            ],
            strict=True,
        )
    )
    found = style.styles_of(columns, labels)
    assert found["b:eager"].colour == found["b:compile"].colour == matplotlib.colors.to_rgb(style.COLOURS["PyTorch"])
    assert sum(found["a:eager"].colour) > sum(found["b:eager"].colour)
    assert len({one.marker for one in found.values()}) == 4
    assert style.styles_of(columns[::-1], labels)["j:jit"].colour == found["j:jit"].colour


def test_columns_of_one_framework_have_patterns_of_their_own():
    torch = ["eager", "torchscript", "compile", "compile-step", "compile-max-autotune"]
    labels = {f"torch:{mode}": Label("PyTorch", "1.0", mode) for mode in torch}
    labels |= {f"tf:{mode}": Label("TensorFlow", "1.0", mode) for mode in ("eager", "function", "xla")}
    found = style.styles_of(list(labels), labels)
    # As many as a figure has lines: no two are alike.
    assert len(labels) == style.MOST_LINES == len(style.PATTERNS)
    assert len({str(one.pattern) for one in found.values()}) == style.MOST_LINES
    assert style.styles_of(list(labels)[::-1], labels) == found


def test_the_modes_of_the_default_study_are_told_apart_without_colours():
    """``function``, ``xla`` and ``eager`` all had solid lines, of which two were of one colour."""
    new = ("eager", "compile", "compile-step")
    labels = {f"t1:{mode}": Label("PyTorch", "1.13", mode) for mode in ("eager", "torchscript")}
    labels |= {f"t2:{mode}": Label("PyTorch", "2.15", mode) for mode in new}
    labels |= {f"tf:{mode}": Label("TensorFlow", "2.21", mode) for mode in ("function", "xla")}
    labels["jax:jit"] = Label("JAX", "0.10", "jit")
    columns = list(labels)
    found = style.styles_of(columns, labels)
    assert len({str(one.pattern) for one in found.values()}) == len(columns)
    assert found["tf:function"].colour == found["tf:xla"].colour


def test_more_columns_of_a_framework_than_patterns_share_each_as_seldom_as_possible():
    labels = {f"p:m{number}": Label("PyTorch", "2.15", f"m{number}") for number in range(12)}
    counts = Counter(str(one.pattern) for one in style.styles_of(list(labels), labels).values())
    assert sorted(counts.values()) == [1, 1, 1, 1, 2, 2, 2, 2]


@pytest.fixture
def labels_of_full_study():
    """The labels of every column that the study with most columns can have."""
    environments: dict[str, dict] = {}
    for path in STUDIES:
        for name, one in tomllib.loads(path.read_text(encoding="utf-8"))["environments"].items():
            environments.setdefault(name, {}).update(one)
    found = {}
    for name, one in environments.items():
        framework = one.get("framework", name.rstrip("12"))
        product = {"torch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX"}.get(framework, framework)
        found |= {f"{name}:{mode}": Label(product, name, mode) for mode in one.get("modes", ())}
    return found


def test_no_two_columns_of_the_full_study_have_the_same_marker_and_pattern(labels_of_full_study):
    columns = list(labels_of_full_study)
    assert len(columns) > 60
    found = style.styles_of(columns, labels_of_full_study)
    assert list(found) == columns
    # Without colours, in a figure of lines that shows all of them.
    assert len({(one.marker, str(one.pattern)) for one in found.values()}) == len(columns)


@pytest.mark.parametrize("seed", range(5))
def test_no_two_columns_that_a_figure_shows_have_the_same_marker_nor_pattern(labels_of_full_study, seed):
    columns = list(labels_of_full_study)
    choices = [columns[: style.MOST_COLUMNS], random.Random(seed).sample(columns, style.MOST_COLUMNS)]
    for shown in choices:
        points = style.styles_of(columns, labels_of_full_study, shown)
        assert set(points) == set(shown)
        assert len({one.marker for one in points.values()}) == len(shown)
        lines = style.styles_of(columns, labels_of_full_study, shown[: style.MOST_LINES])
        assert len({one.marker for one in lines.values()}) == style.MOST_LINES
        assert len({str(one.pattern) for one in lines.values()}) == style.MOST_LINES


def test_a_column_keeps_its_look_where_no_other_one_that_is_shown_has_it(labels_of_full_study):
    columns = list(labels_of_full_study)
    whole = style.styles_of(columns, labels_of_full_study)
    for one, other in itertools.combinations(columns[:20], 2):
        found = style.styles_of(columns, labels_of_full_study, [one, other])
        assert all(found[column].colour == whole[column].colour for column in (one, other))
        if whole[one].marker != whole[other].marker and whole[one].pattern != whole[other].pattern:
            assert found == {column: whole[column] for column in columns if column in (one, other)}
