"""Tests that every workload has the usual sizes, in their order, and that its page says why where it lacks one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from bench.host.workers.field_types import Check
from bench.registry import BENCH, BUILT_IN
from bench.workloads import optimizer_step

USUAL = ("check", "tiny", "small", "medium", "large")
#: In the order in which a specification has them; docs/workload_pages.py says what they are for.
NAMES = ("check", "tiny", "mini", "small", "medium", "large", "single", "batch4", "batch16")
#: {workload: the usual sizes that make no sense for it}; its page names them, and says why.
WITHOUT = {"dispatch": ("medium", "large")}
#: A step has inputs, gradients and intermediate values beside what it must move; together they are to fit 16 GB.
MOST_BYTES = 4e9
EACH = pytest.mark.parametrize("workload", BUILT_IN.workloads)


def sizes_of(workload: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = BUILT_IN.specification(workload).SIZES
    return found


def section(workload: str) -> str:
    """Return what a workload's page says of its sizes."""
    page = Path(BENCH.path("workloads", workload.replace("-", "_"), "page.md")).read_text(encoding="utf-8")
    return page.partition("## Sizes")[2]


@EACH
def test_a_workload_has_every_usual_size_or_its_page_says_why_not(workload):
    missing = tuple(name for name in USUAL if name not in sizes_of(workload))
    assert missing == WITHOUT.get(workload, ())
    for name in missing:
        assert f"`{name}`" in section(workload)


@EACH
def test_sizes_have_known_names_in_one_order(workload):
    names = list(sizes_of(workload))
    assert names == [name for name in NAMES if name in names]


@EACH
def test_the_sizes_of_a_workload_have_the_same_parameters(workload):
    assert len({tuple(size) for size in sizes_of(workload).values()}) == 1


@EACH
def test_the_largest_size_has_more_to_do_than_those_for_a_processor_and_fits_a_gpu(workload):
    specification = BUILT_IN.specification(workload)
    sizes = sizes_of(workload)
    flops = {name: specification.useful_flops(sizes[name]) for name in USUAL if name in sizes}
    *_, last = flops
    assert all(flops[name] < flops[last] for name in ("check", "tiny", "small") if name != last)
    assert specification.compulsory_bytes(sizes[last], 4) <= MOST_BYTES


@pytest.mark.parametrize("workload", ["resnet18", "resnet50", "resnet18-train", "resnet50-train"])
def test_residual_networks_have_full_width_for_the_images_of_cifar_and_of_imagenet(workload):
    full = [size for size in sizes_of(workload).values() if size["width"] == 64]
    assert {(size["side"], size["stem"], size["classes"]) for size in full} == {(32, 3, 10), (224, 7, 1000)}


@pytest.mark.parametrize("size", optimizer_step.SIZES.values(), ids=optimizer_step.SIZES)
def test_the_updates_of_all_tensors_of_an_optimizer_fit_into_the_answer_of_a_worker(size):
    errors = {f"update of {name}": {"error": 0.0, "allowed": 1.0} for name in ("loss", *optimizer_step.shapes(size))}
    assert TypeAdapter(Check).validate_python(errors) == errors
