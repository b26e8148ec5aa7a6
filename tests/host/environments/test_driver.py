"""Tests that a machine without the GPU or the driver that an environment needs says so, and builds nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host import environments
from bench.host.environments import driver, prepare
from bench.host.environments.outcome import Impossible


def refusal(there):
    """Return why a driver does not do where 525.60.13 is needed; empty where it does."""
    try:
        driver.check("525.60.13", [{"driver": there}])
    except Impossible as error:
        return str(error)
    return ""


@pytest.mark.parametrize("there", ["525.60.13", "525.105.17", "580.65.06"])
def test_a_new_enough_driver_will_do(there):
    assert refusal(there) == ""


@pytest.mark.parametrize("there", ["525.60.9", "470.256.02"])
def test_an_older_driver_is_named_with_what_is_needed(there):
    assert f"needs NVIDIA driver 525.60.13 or newer; this machine has {there}" in refusal(there)


def test_an_environment_for_a_gpu_is_unsupported_where_there_is_none(locked, root, announce, monkeypatch):
    monkeypatch.setattr(environments.facts, "gpus", lambda: [])
    prepared = prepare(replace(locked, driver="525.60.13"), root=root, announce=announce)
    assert (prepared.status, prepared.stage) == ("unsupported", "environment")
    assert prepared.reason == "it needs an NVIDIA GPU with driver 525.60.13 or newer; this machine has none"
    assert not (root / ".nox" / "environments" / "tiny").exists()
