"""Tests that the name of an image changes with everything that went into it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.containers.recipe import Recipe, default_base, dockerfile_path
from bench.host.study.session_names import NAME_PATTERN

RECIPE = Recipe("torch2", "FROM x", "base:1", "sha256:1", "3.11", b"torch==2", ("g++", "make"))


@pytest.mark.parametrize(
    "change",
    [
        {"dockerfile": "FROM y"},
        {"base_digest": "sha256:2"},
        {"python": "3.12"},
        {"lock": b"torch==3"},
        {"system_packages": ("g++",)},
        {"platform": "linux/arm64"},
    ],
)
def test_whatever_goes_in_changes_the_tag(change):
    assert replace(RECIPE, **change).tag != RECIPE.tag


def test_the_order_of_packages_and_the_name_of_the_base_do_not_matter():
    assert replace(RECIPE, system_packages=("make", "g++"), base="mirror/base:1").tag == RECIPE.tag


@given(name=st.from_regex(NAME_PATTERN, fullmatch=True))
def test_every_name_of_an_environment_gives_a_valid_tag(name):
    repository, _, tag = replace(RECIPE, environment=name.strip()).tag.partition(":")
    assert repository == "benchmatrix"
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", tag)


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_the_bases_of_the_dockerfiles_are_pinned_by_digest(kind):
    assert re.search(r"@sha256:[0-9a-f]{64}$", default_base(dockerfile_path(kind).read_text()))


def test_a_dockerfile_without_a_base_is_an_error():
    with pytest.raises(ValueError, match="no line 'ARG BASE"):
        default_base("FROM scratch")
