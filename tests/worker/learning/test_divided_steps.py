"""Tests that a training to a result is refused in modes that divide a batch once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench.program import Unsupported
from bench.registry import BUILT_IN
from bench.worker.learning import training


@pytest.mark.parametrize(
    ("framework", "mode"), [("torch", "ddp"), ("torch", "data-parallel"), ("tensorflow", "mirrored"), ("jax", "pmap")]
)
def test_a_mode_for_two_devices_trains_to_no_result(framework, mode):
    live = SimpleNamespace(facts=BUILT_IN.facts(framework), cell=SimpleNamespace(mode=mode))
    with pytest.raises(Unsupported, match=f"mode {mode} divides its batches between devices once"):
        training.begin(live, lambda stage: None, 0, 0, 0.1, data=None, nudged=0)
