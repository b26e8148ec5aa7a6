"""Tests that the grid names every environment that ``nox -s grid`` has to build."""

import tomllib
from pathlib import Path

import grid
import modes

from bench.host.study import family_names

ROOT = Path(__file__).resolve().parents[2]


def test_the_grid_checks_every_older_version():
    tables = tomllib.loads((ROOT / "studies/older-versions.toml").read_text())["environments"]
    named = tuple(name for members in family_names.names(tables).values() for name in members)
    assert named == grid.OLDER_ENVIRONMENTS


def test_the_grid_has_a_portion_for_every_environment_that_it_tests():
    tested = {name for name, _ in (*modes.GRID, *modes.GRID_INFERENCE, *modes.GRID_LAZY, *modes.GRID_INPUT)}
    assert {name for portion in grid.PORTIONS for name in portion} == tested


def test_a_portion_or_the_default_study_has_every_environment_of_the_full_study():
    default = tomllib.loads((ROOT / "matrix.toml").read_text())["study"]["default"]
    full = tomllib.loads((ROOT / "studies/full.toml").read_text())["study"]["default"]
    # NumPy is checked with the default environments.
    assert {*default, "numpy", *(name for portion in grid.PORTIONS for name in portion)} == set(full)
