"""Tests which GPUs a container gets, without an engine."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench.host.containers.isolation import _gpus


@pytest.mark.parametrize(
    ("visible", "devices"),
    [
        ({}, ["nvidia.com/gpu=all"]),
        ({"CUDA_VISIBLE_DEVICES": "2"}, ["nvidia.com/gpu=2"]),
        ({"CUDA_VISIBLE_DEVICES": "2, GPU-8c"}, ["nvidia.com/gpu=2", "nvidia.com/gpu=GPU-8c"]),
    ],
)
def test_podman_gives_a_container_the_visible_gpus(visible, devices):
    (request,) = _gpus(SimpleNamespace(product="podman"), visible)["device_requests"]
    assert (request["Driver"], request["DeviceIDs"]) == ("cdi", devices)


@pytest.mark.parametrize("product", ["docker", "podman"])
@pytest.mark.parametrize("visible", ["", "-1"])
def test_hidden_gpus_are_hidden_in_containers_too(product, visible):
    assert _gpus(SimpleNamespace(product=product), {"CUDA_VISIBLE_DEVICES": visible}) == {}


@pytest.mark.parametrize(
    ("visible", "ids", "count"), [({}, None, -1), ({"CUDA_VISIBLE_DEVICES": "2,GPU-8c"}, ["2", "GPU-8c"], 0)]
)
def test_docker_gives_a_container_the_visible_gpus(visible, ids, count):
    (request,) = _gpus(SimpleNamespace(product="docker"), visible)["device_requests"]
    assert (request["DeviceIDs"] or None, request["Count"]) == (ids, count)
