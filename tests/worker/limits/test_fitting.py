"""Tests batches of any length, and the memory cap under which they are tried."""

import numpy as np
import pytest

from bench.frameworks.numpy.adapter import Adapter
from bench.program import Transform, Unsupported
from bench.registry import BUILT_IN
from bench.worker.limits import fitting


def size_of(workload):
    return BUILT_IN.specification(workload).SIZES["check"]


@pytest.mark.parametrize("workload", BUILT_IN.workloads)
def test_a_batch_of_any_length_is_made_or_refused(workload):
    specification, size = BUILT_IN.specification(workload), size_of(workload)
    without = {"gemm", "dispatch", "elementwise-chain", "transcendental-chain", "stencil", "conjugate-gradient"}
    without |= {"equation-of-state", "isoneutral-mixing", "turbulent-kinetic-energy", "random-normal", "random-uniform"}
    without |= {"stencil-unrolled", "conjugate-gradient-unrolled"}
    if workload in without or workload.startswith("optimizer-step"):
        with pytest.raises(Unsupported, match="workload {} has no batch".format(workload)):
            fitting.enlarged(workload, size, 3)
        return
    larger = fitting.enlarged(workload, size, 150)
    assert specification.items(larger) % 150 == 0
    seen = []

    def build(size, parameters, batch, transform):
        assert size == larger
        seen.extend(batch)
        raise ZeroDivisionError

    batch = fitting.Batch(specification, workload, size, 150, seed=1)
    with pytest.raises(ZeroDivisionError):
        batch.try_steps(Adapter("eager", "cpu", "float32", 1), build, None, lambda stage: None)
    assert 150 in {array.shape[0] for array in seen}
    assert sum(array.nbytes for array in seen) == batch.input_bytes()
    # The shapes and types are those of a batch that is drawn as a whole.
    whole = specification.batch(larger, np.random.RandomState(1))
    assert [(array.shape, array.dtype) for array in seen] == [(array.shape, array.dtype) for array in whole]


@pytest.mark.parametrize(("workload", "steps"), [("mlp-train", 2), ("layernorm-softmax", 1)])
def test_training_makes_a_second_step_beside_the_optimizer(workload, steps):
    specification, made, entered = BUILT_IN.specification(workload), [], []

    def build(size, parameters, batch, transform):
        program = BUILT_IN.implementation(workload, "numpy")(size, parameters, batch, transform)
        return program._replace(step=lambda *batch: made.append(1) or program.step(*batch))

    batch = fitting.Batch(specification, workload, size_of(workload), 9, seed=1)
    adapter = Adapter("eager", "cpu", "float32", 1)
    batch.try_steps(adapter, build, Transform("eager", adapter.transform), entered.append)
    assert len(made) == steps
    assert entered == ["first-call"]


class Cap:
    """Counts how often it is enforced."""

    def __init__(self, cap_bytes):
        self.bytes, self.enforced = cap_bytes, 0

    def enforce(self):
        self.enforced += 1


def test_an_input_beyond_the_cap_is_not_even_drawn():
    specification = BUILT_IN.specification("mlp-train")
    batch = fitting.Batch(specification, "mlp-train", size_of("mlp-train"), 10**12, seed=1)
    cap = Cap(1 << 20)
    with pytest.raises(MemoryError, match="the input alone takes 52000000000000 bytes"):
        batch.try_steps(Adapter("eager", "cpu", "float32", 1), None, None, lambda stage: None, cap)
    assert cap.enforced == 0


def test_the_cap_is_in_force_before_anything_is_built():
    specification = BUILT_IN.specification("mlp-train")
    cap = Cap(1 << 20)

    def build(*_):
        assert cap.enforced == 1
        raise ZeroDivisionError

    batch = fitting.Batch(specification, "mlp-train", size_of("mlp-train"), 4, seed=1)
    with pytest.raises(ZeroDivisionError):
        batch.try_steps(Adapter("eager", "cpu", "float32", 1), build, None, lambda stage: None, cap)
