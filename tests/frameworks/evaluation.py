"""Runs inside an environment, through server.py: compares the logits of ``evaluate`` with a specification's loss.

It returns [the loss of the logits that a program gives after some steps, the one of its parameters in float64].
"""

from __future__ import annotations

import numpy as np
from trial import adapter_of, built, end, run

from bench.registry import BUILT_IN
from bench.workloads import layers


def main(framework, mode, workload):
    specification = BUILT_IN.specification(workload)
    adapter = adapter_of(framework, mode)
    program, batches = built(adapter, framework, mode, workload)
    run(adapter, program, batches, 3)
    *inputs, labels = (adapter.get(array) for array in batches[0])
    labels = labels.astype(int)
    logits = np.asarray(adapter.get(program.evaluate(*batches[0][:-1])), np.float64)
    parameters = {name: np.asarray(adapter.get(value), np.float64) for name, value in program.parameters().items()}
    batch = (*(array.astype(np.float64) for array in inputs), labels)
    expected = specification.loss(specification.SIZES["check"], parameters, {}, batch)[0]
    end(program)
    return [float(layers.cross_entropy(logits, labels)), float(expected)]
