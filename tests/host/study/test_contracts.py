"""Tests that what other people's code must define is what the program reads: our own code defines it, too."""

from __future__ import annotations

import numpy as np
import pytest

from bench.host.study import contracts
from bench.registry import BUILT_IN
from bench.worker.checking.optimizers import update


@pytest.mark.parametrize("workload", BUILT_IN.workloads)
def test_every_specification_of_ours_is_accepted(workload: str) -> None:
    assert contracts.check_specification(BUILT_IN, workload) == []


@pytest.mark.parametrize("name", contracts.OPTIMIZERS)
def test_an_optimizer_needs_the_numbers_that_its_step_reads(name: str) -> None:
    complete = {"name": name, **dict.fromkeys(contracts.OPTIMIZERS[name], 0.5)}
    parameters = {"weight": np.ones(1)}
    update(complete, {}, parameters, {"weight": np.ones(1)})
    assert parameters["weight"] != 1
    for key in contracts.OPTIMIZERS[name]:
        with pytest.raises(KeyError, match=key):
            update({k: v for k, v in complete.items() if k != key}, {}, parameters, {"weight": np.ones(1)})
