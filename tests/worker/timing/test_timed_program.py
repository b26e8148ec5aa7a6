"""What is timed of a program, and after which steps it is waited for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench.program import Program
from bench.worker.timing.timed_program import run_of


@pytest.mark.parametrize(
    ("dispatch", "device", "waits"),
    [("inline", "cpu", 0), ("asynchronous", "cpu", 3), (None, "cpu", 3), ("asynchronous", "gpu", 0)],
)
def test_a_loop_over_steps_waits_for_each_where_a_processor_may_still_compute(dispatch, device, waits):
    waited = []
    adapter = SimpleNamespace(settings=lambda: {"dispatch": dispatch}, synchronize=waited.append)
    run, synchronised = run_of(Program(lambda number: {"number": number}), adapter, device)
    assert run([(1,), (2,), (3,)]) == {"number": 3}
    assert len(waited) == waits
    assert synchronised == ("every step" if waits else "every sample")


def test_a_run_of_the_program_itself_is_timed_as_it_is():
    program = Program(None, run=lambda batches: {"count": len(batches)})
    assert run_of(program, None, "cpu") == (program.run, "every sample")
