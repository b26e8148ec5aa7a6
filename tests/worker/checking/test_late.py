"""Tests that the check after timing finds a ``run`` that leaves out outputs or steps, and lets a right one pass."""

import numpy as np
import pytest

from bench.program import Transform
from bench.registry import BUILT_IN
from bench.worker.checking import late, parity, tolerance
from bench.worker.timing.stopwatch import looped

SEED = 1


@pytest.fixture
def verify(tmp_path):
    """Check NumPy's program of a workload after timing, with the ``run`` that ``change`` makes of the right one."""

    def check(workload, change=lambda run: run, **fields):
        specification = BUILT_IN.specification(workload)
        size = specification.SIZES["check"]
        path = str(tmp_path / (workload + ".npz"))
        parity.write_reference(path, specification, size, SEED)
        parameters, batches, _ = parity.draw(specification, size, SEED)
        transform = Transform("eager", lambda function, **options: function)
        program = BUILT_IN.implementation(workload, "numpy")(size, parameters, batches[0], transform)
        program = program._replace(**fields)
        run = change(program.run or looped(program.step, lambda outputs: None, each=True))
        found = late.LateCheck(program, run, batches, path, "float32", tolerance.TOLERANCE_FACTOR)
        return found.verify(np.asarray, lambda outputs: None)

    return check


@pytest.mark.parametrize("workload", ["gemm", "mlp-train"])
def test_outputs_that_are_left_out_are_a_mismatch(verify, workload):
    with pytest.raises(parity.Mismatch, match=r"^after timing, the outputs are \[\]; the specification has \['"):
        verify(workload, lambda run: lambda batches: {})


def test_one_of_several_outputs_is_a_mismatch(verify):
    def first(run):
        return lambda batches: dict(list(run(batches).items())[:1])

    with pytest.raises(parity.Mismatch, match=r"^after timing, the outputs are \['\w+'\]; the specification has \["):
        verify("turbulent-kinetic-energy", first)


@pytest.fixture
def slow(monkeypatch):
    """Let every program be one whose steps take longer than the check has time for."""
    monkeypatch.setattr(late, "SLOW_S", 0.0)


def zeros_of_several(run):
    def changed(batches):
        outputs = run(batches)
        return outputs if len(batches) == 1 else {name: np.zeros_like(value) for name, value in outputs.items()}

    return changed


def every_other(run):
    return lambda batches: run(batches[::2])


@pytest.mark.parametrize("change", [zeros_of_several, every_other])
@pytest.mark.parametrize("workload", ["gemm", "mlp-train"])
def test_a_slow_run_that_is_wrong_for_several_batches_is_a_mismatch(verify, slow, workload, change):
    with pytest.raises(parity.Mismatch, match=r"^after timing, "):
        verify(workload, change)


@pytest.mark.parametrize(
    ("workload", "steps"),
    [("gemm", 1), ("mlp-train", 2), ("turbulent-kinetic-energy", 1), ("random-normal", 1), ("lenet-input", 2)],
)
def test_a_slow_run_that_is_right_passes(verify, slow, workload, steps):
    """With one output or several, draws, or an input pipeline."""
    assert verify(workload) == steps
    if workload in ("gemm", "mlp-train"):
        assert verify(workload, starts=True) == steps


def test_a_slow_run_is_compared_with_a_reduced_reference(verify, slow, monkeypatch):
    monkeypatch.setattr(parity, "FULL_FLOPS", 0.0)
    assert verify("mlp-train") == 2
    with pytest.raises(parity.Mismatch, match=r"^after timing, loss has a relative error"):
        verify("mlp-train", every_other)
