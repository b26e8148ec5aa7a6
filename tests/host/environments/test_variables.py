"""Tests what a worker's environment contains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.environments.variables import activated, of_gpus, of_layout, of_process, of_worker
from bench.registry import BUILT_IN

NUMPY, TORCH, TENSORFLOW, JAX = (BUILT_IN.facts(name) for name in ("numpy", "torch", "tensorflow", "jax"))


def test_only_known_variables_reach_a_worker():
    inherited = {"PATH": "/bin", "OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "7", "SECRET": "x"}
    made = of_worker(3, TENSORFLOW, own={"EXTRA": "1"}, inherited=inherited)
    assert made["PATH"] == "/bin"
    assert made["EXTRA"] == "1"
    assert made["OMP_NUM_THREADS"] == made["MKL_NUM_THREADS"] == made["TF_NUM_INTRAOP_THREADS"] == "3"
    assert "SECRET" not in made
    assert "OPENBLAS_CORETYPE" not in made


@pytest.mark.parametrize("name", BUILT_IN.frameworks)
def test_a_worker_gets_the_variables_of_its_own_framework_only(name):
    facts = BUILT_IN.facts(name)
    own = set(of_worker(1, facts, inherited={})) - set(of_process(1, {})) - {"NUMPY_MADVISE_HUGEPAGE"}
    assert own == set(facts.variables)


def test_numpy_asks_for_huge_pages_only_where_it_is_measured():
    assert "NUMPY_MADVISE_HUGEPAGE" not in of_worker(1, NUMPY, inherited={})
    for facts in (TORCH, TENSORFLOW, JAX):
        assert of_worker(1, facts, inherited={})["NUMPY_MADVISE_HUGEPAGE"] == "0"


def test_the_cells_of_a_row_can_share_a_gpu_unless_the_study_says_otherwise():
    name = "XLA_PYTHON_CLIENT_PREALLOCATE"
    assert of_worker(1, JAX)[name] == "false"
    assert of_worker(1, JAX, own={name: "true"})[name] == "true"


def test_what_an_environment_sets_goes_before_all_others():
    facts = replace(TORCH, variables={"A": "framework", "B": "{threads}"})
    made = of_worker(2, facts, layout=7, caches={"A": "cache"}, own={"A": "own", "PYTHONHASHSEED": "0"}, inherited={})
    assert (made["A"], made["B"], made["PYTHONHASHSEED"]) == ("own", "2", "0")


def test_processes_with_one_layout_have_one_order_of_hashes():
    assert of_layout(7)["PYTHONHASHSEED"] == "7"
    assert of_layout(2**32 + 7)["PYTHONHASHSEED"] == "7"
    assert of_layout(None) == {}


def test_a_layout_moves_the_stack_by_up_to_a_page():
    """By as much for all that share it; of 64 layouts, at least 32 differ."""
    assert of_layout(7) == of_layout(7)
    sizes = {len(of_layout(seed)["BENCHMATRIX_ROOM"]) for seed in range(64)}
    assert len(sizes) > 32
    assert max(sizes) < 4096


def test_the_programs_of_an_environment_come_first():
    assert activated("/e/bin/python", {"PATH": "/usr/bin", "HOME": "/h"}) == {"PATH": "/e/bin:/usr/bin", "HOME": "/h"}
    assert activated("/e/bin/python", {}) == {"PATH": "/e/bin"}
    made = of_worker(1, TORCH, interpreter="/e/bin/python", inherited={"PATH": "/usr/bin"})
    assert made["PATH"] == "/e/bin:/usr/bin"


def test_a_folder_that_is_in_path_keeps_its_place():
    chosen = {"PATH": "/opt/gcc/bin:/usr/bin"}
    assert activated("/usr/bin/python3", chosen) == chosen
    assert activated("", chosen) == chosen


@pytest.mark.parametrize(
    ("visible", "one", "two"),
    [
        ({}, "0", "0,1"),
        ({"CUDA_VISIBLE_DEVICES": "3,1,2"}, "3", "3,1"),
        ({"CUDA_VISIBLE_DEVICES": "GPU-8c,GPU-4f"}, "GPU-8c", "GPU-8c,GPU-4f"),
        ({"CUDA_VISIBLE_DEVICES": "1"}, "1", "1"),
        ({"CUDA_VISIBLE_DEVICES": ""}, "", ""),
    ],
)
def test_a_worker_sees_as_many_gpus_as_its_mode_computes_on(visible, one, two):
    order = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert of_gpus("gpu", 1, visible) == {"CUDA_VISIBLE_DEVICES": one, **order}
    assert of_gpus("gpu", 2, visible) == {"CUDA_VISIBLE_DEVICES": two, **order}
    assert of_gpus("cpu", 1, visible) == {}


def test_cuda_numbers_gpus_as_the_driver_does_unless_the_user_has_chosen():
    assert of_gpus("gpu", 1, {})["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert of_gpus("gpu", 1, {"CUDA_DEVICE_ORDER": "FASTEST_FIRST"})["CUDA_DEVICE_ORDER"] == "FASTEST_FIRST"
