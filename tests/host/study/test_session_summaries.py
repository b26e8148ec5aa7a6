"""Tests what ``nox -l`` says of the session of an environment."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from bench.host.study import family_names
from bench.host.study.session_summaries import LONGEST_LIST, summaries

ROOT = Path(__file__).resolve().parents[3]


def said(name: str, tables: Any) -> str:
    return summaries(tables, family_names.names(tables))[name]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            {"framework": "jax", "requirements": ["jax==0.10.2", "optax==0.2.8"], "modes": ["jit"]},
            "Measure jax==0.10.2, optax==0.2.8: jit.",
        ),
        (
            {"framework": "torch", "lock": "torch1", "modes": ["eager", "compile"]},
            "Measure the packages of torch1 with other settings: eager, compile.",
        ),
        (
            {"framework": "numpy", "interpreter": "/opt/{0}/python3", "modes": ["eager"]},
            "Measure numpy in /opt/{0}/python3: eager.",
        ),
        ({"provider": "container", "framework": "jax", "dockerfile": "jax.Dockerfile"}, "Measure jax in a container."),
        ({"provider": "container", "lock": "jax"}, "Measure the packages of jax in a container."),
        ({"requirements": "jax", "modes": [1, "jit"]}, "Measure name: jit."),
        ("nonsense", "Measure name."),
    ],
)
def test_a_session_says_what_it_measures(table, expected):
    assert said("name", {"name": table}) == expected


def test_a_table_of_versions_lists_them_and_each_version_has_its_own():
    tables = {"old": {"framework": "jax", "versions": ["0.10.2", "0.5.3"], "modes": ["jit"]}}
    assert said("old", tables) == "Measure jax 0.5.3, 0.10.2: jit."
    assert said("old-0.5.3", tables) == "Measure jax 0.5.3: jit."


def test_a_long_list_is_cut_between_two_names_and_stays_on_its_line():
    line = said("name", {"name": {"framework": "jax", "modes": ["a\nb", *(f"mode-{number}" for number in range(99))]}})
    assert line.startswith("Measure jax: a b, mode-0, mode-1, ")
    assert line.endswith(", ….")
    assert len(line) < LONGEST_LIST + 30


def test_every_environment_of_the_default_study_names_what_it_is_built_from():
    tables = tomllib.loads((ROOT / "matrix.toml").read_text(encoding="utf-8"))["environments"]
    lines = summaries(tables, family_names.names(tables))
    assert lines.keys() == tables.keys()
    assert lines["torch1"] == "Measure torch==1.13.1, numpy<2, setuptools<80: eager, torchscript."
    assert len(set(lines.values())) > 0.9 * len(lines)
