"""Tests the names of environments, whose files lie beside one another."""

from __future__ import annotations

import copy

import pytest
from study_tables import TABLES, errors_of

from bench.host.study import study_file

OF_NUMPY = {"framework": "numpy", "modes": ["eager"], "requirements": ["numpy"], "python": "3.11"}


@pytest.mark.parametrize(
    "ending", ["lock", "outcome.json", "build", "versions", "building-7", "retired-7", "partial-7"]
)
def test_no_environment_has_the_name_of_a_file_beside_another_one(ending):
    tables = copy.deepcopy(TABLES)
    tables["environments"][f"x.{ending}"] = OF_NUMPY
    assert errors_of(tables) == [
        f"matrix.toml: environments.x.{ending}: files of the environment 'x' can have this name; choose another."
    ]


@pytest.mark.parametrize("name", ["lock", "x.locked", "x.build.y", "torch-2.0.1", "building-7"])
def test_other_names_are_free(name):
    tables = copy.deepcopy(TABLES)
    tables["environments"][name] = OF_NUMPY
    assert name in study_file.parse(tables).environments
