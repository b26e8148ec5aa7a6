"""Tests that the noxfile names every environment that ``nox -s grid`` has to build."""

import ast
import tomllib
from pathlib import Path

import modes

from bench.host.study import family_names

ROOT = Path(__file__).resolve().parents[2]


def constants(*names):
    """Return the values of constants of the noxfile, which nox alone can import."""
    tree = ast.parse((ROOT / "noxfile.py").read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in names:
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return [found[name] for name in names]


def test_the_grid_checks_every_older_version():
    (older,) = constants("OLDER_ENVIRONMENTS")
    tables = tomllib.loads((ROOT / "studies/older-versions.toml").read_text())["environments"]
    assert [name for members in family_names.names(tables).values() for name in members] == list(older)


def test_the_grid_has_a_portion_for_every_environment_that_it_tests():
    (portions,) = constants("PORTIONS")
    tested = {name for name, _ in (*modes.GRID, *modes.GRID_INFERENCE, *modes.GRID_LAZY, *modes.GRID_INPUT)}
    assert {name for portion in portions for name in portion} == tested


def test_a_portion_or_the_default_study_has_every_environment_of_the_full_study():
    (portions,) = constants("PORTIONS")
    default = tomllib.loads((ROOT / "matrix.toml").read_text())["study"]["default"]
    full = tomllib.loads((ROOT / "studies/full.toml").read_text())["study"]["default"]
    # NumPy is checked with the default environments.
    assert {*default, "numpy", *(name for portion in portions for name in portion)} == set(full)
