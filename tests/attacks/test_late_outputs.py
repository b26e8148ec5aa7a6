"""Attacks by programs that are right while they are checked and wrong, or idle, while they are timed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import odd_framework
import pytest

from bench.cell import Cell
from bench.host.environments.variables import of_process
from bench.host.executors.cell_process import CellProcess
from bench.host.storage.references import References
from bench.host.workers.worker_process import WorkerProcess
from bench.record import Record
from bench.registry import Registry
from bench.worker.checking.late import exchange, part
from bench.worker.checking.projection import sampled

ROOT = Path(__file__).resolve().parents[2]
#: The right program, and the number of its step.
HEAD = """
import numpy as np
from bench.program import Program
from bench.workloads.{workload}.numpy import build as right

def build(size, parameters, batch, transform):
    program = right(size, parameters, batch, transform)
    state = {{"steps": 0, "kept": {{}}}}
    def count():
        state["steps"] += 1
        return state["steps"]
{attack}
"""
PLAIN = "    return program"
WRONG_LATER = """
    def step(*batch):
        outputs = program.step(*batch)
        return outputs if count() < 30 else {name: value * 1.01 for name, value in outputs.items()}
    return program._replace(step=step)
"""
IDLE_LATER = """
    def step(*batch):
        if count() < 30:
            state["kept"] = program.step(*batch)
        else:
            sum(range(2000))
        return state["kept"]
    return program._replace(step=step)
"""
REMEMBERED = """
    def step(*batch):
        sum(range(2000))
        if id(batch[0]) not in state["kept"]:
            state["kept"][id(batch[0])] = program.step(*batch)
        return state["kept"][id(batch[0])]
    return program._replace(step=step)
"""
OTHER_RUN = """
    def run(batches):
        for batch in batches:
            outputs = {name: value * 0.99 for name, value in program.step(*batch).items()}
        return outputs
    return program._replace(run=run)
"""
IDLE_RUN = """
    def run(batches):
        for batch in batches:
            sum(range(2000))
        return program.step(*batches[-1]) if count() < 2 else {"loss": np.float32(1.0)}
    return program._replace(run=run)
"""
#: Steps of these two are so slow that few of them are made one by one after timing.
ZEROS_OF_SEVERAL = """
    import time
    def run(batches):
        for batch in batches:
            time.sleep(0.011)
            outputs = program.step(*batch)
        return outputs if len(batches) == 1 else {name: 0 * value for name, value in outputs.items()}
    return program._replace(run=run)
"""
EVERY_OTHER = """
    import time
    def run(batches):
        for batch in batches[::2]:
            time.sleep(0.006)
            outputs = program.step(*batch)
        return outputs
    return program._replace(run=run)
"""
UNTRAINED_LATER = """
    def step(*batch):
        kept = {name: value.copy() for name, value in program.parameters().items()}
        outputs = program.step(*batch)
        if count() > 30:
            program.parameters().update(kept)
        return outputs
    return program._replace(step=step)
"""

SLOW_CLOCK = """
    from bench.worker.timing import stopwatch
    clock = stopwatch.Clock()
    stopwatch.Stopwatch.__init__.__kwdefaults__["clock"] = clock._replace(wall=lambda: clock.wall() // 10)
    return program
"""


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    return References(ROOT, tmp_path_factory.mktemp("references"), 1, 1, Registry())


@pytest.fixture
def measured(tmp_path, references):
    """Measure a cell of an attacking program over NumPy; return its record."""

    def measure(workload: str, attack: str, turns: int = 2) -> Record:
        sources = odd_framework.make(tmp_path / "source")
        folder = tmp_path / "source" / "workloads" / workload
        folder.mkdir(exist_ok=True)
        (folder / "odd.py").write_text(HEAD.format(workload=workload.replace("-", "_"), attack=attack))
        cell = Cell("odd", "odd", "plain", workload.replace("_", "-"), "check", "float32", "cpu", 1)
        reference = references.ensure(cell, None)
        process = CellProcess(cell, 0, 1, 0, timeout_s=60.0, run="r")
        worker = WorkerProcess(
            [sys.executable],
            folder=ROOT,
            variables=of_process(1),
            log=tmp_path / "w.log",
            processors=[],
            sources=sources,
        )
        try:
            process.request_import(worker)
            process.await_import(alone=True)
            process.request_prepare(seed=1, reference=str(reference), data=None)
            process.await_prepare(alone=True, cache=None)
            process.calibrate(sample_s=0.001)
            for _ in range(turns):
                process.take_turn()
            process.request_finish()
            process.await_finish()
        finally:
            process.kill()
        return process.record

    return measure


@pytest.mark.parametrize("workload", ["gemm", "mlp_train"])
def test_a_right_program_is_ok_after_timing_as_well(measured, workload):
    record = measured(workload, PLAIN)
    assert (record.status, record.reason, len(record.sample_ns)) == ("ok", None, 2)


@pytest.mark.parametrize(
    ("workload", "attack"),
    [
        ("gemm", WRONG_LATER),
        ("gemm", IDLE_LATER),
        ("gemm", REMEMBERED),
        ("gemm", OTHER_RUN),
        ("gemm", ZEROS_OF_SEVERAL),
        ("mlp_train", WRONG_LATER),
        ("mlp_train", IDLE_LATER),
        ("mlp_train", IDLE_RUN),
        ("mlp_train", EVERY_OTHER),
        ("mlp_train", UNTRAINED_LATER),
    ],
)
def test_a_program_that_is_wrong_after_its_check_is_a_mismatch_with_its_samples(measured, workload, attack):
    record = measured(workload, attack)
    assert (record.status, record.stage) == ("mismatch", "finish"), record.reason
    assert record.reason is not None
    assert record.reason.startswith("after timing, ")
    assert len(record.sample_ns) == 2


def test_a_clock_that_was_divided_by_ten_fails_the_cell(measured):
    record = measured("gemm", SLOW_CLOCK, turns=20)
    assert (record.status, record.stage) == ("failed", "measure")
    assert "the worker's clock went" in record.reason


def test_the_contents_of_two_batches_are_exchanged_in_place():
    first, second = (np.zeros(3), np.arange(3)), (np.ones(3), np.arange(3)[::-1].copy())
    assert exchange(first, second)
    assert [array.tolist() for array in first] == [[1, 1, 1], [2, 1, 0]]
    assert [array.tolist() for array in second] == [[0, 0, 0], [0, 1, 2]]


def test_constant_batches_are_left_as_they_are():
    constant = np.ones(3)
    constant.flags.writeable = False
    first = np.zeros(3)
    assert not exchange((first, first), (np.ones(3), constant))
    assert not exchange((object(),), (object(),))
    assert first.tolist() == [0, 0, 0]


def test_the_part_that_is_checked_is_the_same_for_views_and_for_constant_arrays():
    array = np.arange(1 << 20, dtype=np.float32).reshape(1 << 10, -1)
    seen = []

    def get(value):
        seen.append(value.shape)
        return np.array(value)

    expected = sampled(array)
    np.testing.assert_array_equal(part(array, get), expected)
    array.flags.writeable = False
    np.testing.assert_array_equal(part(array, get), expected)
    assert seen == [expected.shape, array.shape], "a slice of a constant array would be compiled"
