"""Tests that a step which writes to its inputs is found, also where its outputs are right."""

import numpy as np
import pytest

from bench.cell import Cell
from bench.program import Program
from bench.registry import BUILT_IN
from bench.worker import preparation
from bench.worker.checking import parity, untouched
from bench.worker.imported import Imported
from bench.worker.live_cell import LiveCell


def kept_and_put(dtype, shape=(64, 32)):
    drawn = (np.random.RandomState(1).standard_normal(shape).astype(np.float32), np.arange(64, dtype=np.int32))
    return untouched.kept(drawn), (drawn[0].astype(dtype), drawn[1].copy())


def refusal(batch, drawn, precision="float32", get=np.asarray):
    """Return what is said of a batch that a step wrote to; empty where none did."""
    try:
        untouched.verify(batch, drawn, precision, get)
    except parity.Mismatch as error:
        return str(error)
    return ""


@pytest.mark.parametrize("precision", ["float64", "float32", "float16"])
def test_inputs_that_are_only_rounded_are_untouched(precision):
    drawn, batch = kept_and_put(precision)
    assert refusal(batch, drawn, precision) == ""


@pytest.mark.parametrize("shape", [(64, 32), (3000, 300)])
@pytest.mark.parametrize(
    "write", [lambda batch: batch[0].sort(axis=1), lambda batch: np.negative(batch[0], out=batch[0])]
)
def test_inputs_that_a_step_writes_to_are_found(shape, write):
    drawn, batch = kept_and_put("float32", shape)
    write(batch)
    assert refusal(batch, drawn).startswith("a step writes to input 0 of its batch")


def test_integers_that_a_step_writes_to_are_found():
    drawn, batch = kept_and_put("float32")
    batch[1][5] += 1
    assert refusal(batch, drawn).startswith("a step writes to input 1 of its batch")


def test_arrays_that_cannot_be_written_to_are_not_fetched():
    drawn, batch = kept_and_put("float32")
    fetched = []
    for array in batch:
        array.flags.writeable = False
    assert refusal(batch, drawn, get=fetched.append) == ""
    assert fetched == []


@pytest.mark.parametrize("writes", [False, True])
def test_a_program_with_right_outputs_that_writes_to_its_inputs_is_a_mismatch(tmp_path, writes):
    def step(left, right):
        if writes:  # The product stays the same.
            left *= 2
            right /= 2
        return {"product": left @ right}

    gemm, path = BUILT_IN.specification("gemm"), str(tmp_path / "gemm.npz")
    parity.write_reference(path, gemm, gemm.SIZES["check"], 1)
    threads = len(preparation.in_force.loaded.processors())
    live = LiveCell(Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", threads), BUILT_IN, Imported())
    live.build = lambda *arguments: Program(step)
    live.note_baseline()
    live.adapter.settings = lambda: {"threads": threads}

    def prepare():
        return preparation.prepare(live, lambda stage: None, 1, path, None)

    if writes:
        with pytest.raises(parity.Mismatch, match="a step writes to input 0 of its batch"):
            prepare()
    else:
        assert set(prepare()[1]["check"]) == {"product[0]", "product[1]"}
