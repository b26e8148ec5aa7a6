"""Tests that the check after timing finds a ``run`` that leaves out outputs, and lets a right one pass."""

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
