"""Tests which packages have builds for processors alone, and what names an index of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.study import cpu_packages
from bench.host.study.cpu_packages import CpuPackage
from bench.host.study.schema import Indexes
from bench.registry import BUILT_IN, Registry


@pytest.fixture(autouse=True)
def known_anew():
    cpu_packages.known.cache_clear()
    yield
    cpu_packages.known.cache_clear()


def test_the_facts_of_a_framework_say_that_its_package_has_such_builds(monkeypatch):
    facts = Registry.facts
    stated = {"jax": 0.5, "torch": 0.0}

    def planted(registry, framework):
        return replace(facts(registry, framework), cpu_environment_gb=stated.get(framework, 0.0))

    monkeypatch.setattr(Registry, "facts", planted)
    assert cpu_packages.known() == (CpuPackage("jax", "JAX", 0.5),)
    assert cpu_packages.among(["numpy", "JAX[cpu]==0.10.2"]) == CpuPackage("jax", "JAX", 0.5)
    assert cpu_packages.among(["torch==2.15.0"]) is None


def test_its_name_gives_the_key_and_the_variable():
    package = CpuPackage("tiny-frame", "Tinyframe", 0.5)
    assert package.named == "tiny_frame_cpu under [indexes], or the variable BENCHMATRIX_TINY_FRAME_CPU_INDEX"


def test_a_study_file_has_a_key_for_each():
    assert list(Indexes.model_fields) == [package.key for package in cpu_packages.known()] == ["torch_cpu"]
    assert [package.variable for package in cpu_packages.known()] == ["BENCHMATRIX_TORCH_CPU_INDEX"]
    assert BUILT_IN.facts("torch").cpu_environment_gb > 0
