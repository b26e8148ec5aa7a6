"""Holds the table of mistakes that the check must find in every training workload.

A row is a name and, for a workload, the mistakes to be planted one by one, or the reason why it does not apply.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from planted_mistake import Mistake

from bench.registry import BUILT_IN

from . import gradients, layouts, networks, optimizers, products

#: What each training workload computes. A workload that is missing here has no table, and its test fails.
NETWORKS = {
    "catdog-cnn-train": "convolutions",
    "gpt-train": "transformer",
    "lenet-input": "convolutions",
    "lenet-train": "convolutions",
    "lstm-cell-lm-train": "recurrent",
    "lstm-lm-train": "recurrent",
    "mlp-train": "perceptron",
    "optimizer-step-adam": "given gradients",
    "optimizer-step-adamw": "given gradients",
    "optimizer-step-sgd": "given gradients",
    "resnet18-train": "residual",
    "resnet50-train": "residual",
    "transformer-train": "transformer",
}


class Case(NamedTuple):
    """A training workload at its check size."""

    specification: Any
    network: str
    #: Its parameters.
    drawn: dict[str, np.ndarray]

    @property
    def optimizer(self) -> dict:
        return self.specification.OPTIMIZER

    @property
    def adaptive(self) -> bool:
        """Tell whether the size of a step does not depend on that of the gradients."""
        return self.optimizer["name"] != "sgd"


def case_of(workload: str) -> Case:
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["check"]
    return Case(specification, NETWORKS[workload], specification.parameters(size, np.random.RandomState(0)))


def table(workload: str) -> dict[str, dict[str, Mistake] | str]:
    """Return the rows of a workload: mistakes by what they concern, such as a parameter, or why there are none."""
    case, found = case_of(workload), {}
    for kind in (gradients, layouts, optimizers, networks, products):
        for name, entry in kind.rows(case):
            assert name not in found, name
            found[name] = {"": entry} if isinstance(entry, Mistake) else entry
    return found


def same(workload: str) -> dict[str, Mistake]:
    """Return what differs from the specification and is right all the same."""
    case = case_of(workload)
    return {"nothing": Mistake(), **optimizers.same(case), **networks.same(case)}
