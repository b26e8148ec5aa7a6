"""Prepares a cell for timing: draws its inputs, makes the first call, and checks the outputs against float64."""

from __future__ import annotations

import gc
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import in_force
from .checking import inputs, parity, tolerance, untouched
from .checking.late import LateCheck
from .live_cell import Enter, LiveCell
from .timing.stopwatch import looped


class Prepared(NamedTuple):
    """What a program that agrees with float64 is timed with, and checked with again."""

    batches: List[Any]
    late: LateCheck
    #: Peak bytes of build and first call, above the baseline.
    first_call_peak: int


def prepare(
    live: LiveCell, enter: Enter, seed: int, reference: str, data: Optional[str]
) -> Tuple[Prepared, Dict[str, Any]]:
    """Build the program, make its first call and check it; return it and the answer to the host."""
    specification, size = live.specified()
    adapter = live.adapter
    draw = inputs.drawn(specification, size, seed, data, reference)
    parameters = {name: adapter.put(array) for name, array in draw.parameters.items()}
    batches = [tuple(adapter.put(array) for array in batch) for batch in draw.batches]
    initial = dict(draw.parameters, **parity.initial_state(specification, size)) if specification.TRAINING else {}
    identity, description = draw.digest, draw.description
    kept = untouched.kept(draw.batches[0])
    del draw
    live.baseline.forget_peak()
    program, first_call_s = live.first_call(size, parameters, batches[0], enter)
    first_call_peak = live.baseline.above()

    enter("check")
    reduced = parity.is_reduced(specification, size)
    outputs = parity.program_outputs(program, batches, adapter.get, initial, reduced=reduced)
    untouched.verify(batches[0], kept, live.cell.precision, adapter.get)
    factor = getattr(specification, "TOLERANCE_FACTOR", tolerance.TOLERANCE_FACTOR)
    checked = parity.compare(outputs, reference, identity, live.computes_in, factor)
    run = program.run or looped(program.step, adapter.synchronize, True)
    late = LateCheck(program, run, batches, reference, live.computes_in, factor)
    del outputs, initial, kept
    in_force.verify(live.cell, adapter.settings())
    live.settle()
    # These objects live as long as the process; the collector need not visit them between samples. What the import
    # made is not searched for garbage: that took 0.3 s with PyTorch's compiler, in each of many forked workers.
    gc.collect(1)
    getattr(gc, "freeze", lambda: None)()
    answer = {
        "first_call_s": first_call_s,
        "keeps_code": getattr(adapter, "keeps_code", True),
        "check": checked,
        "work": live.work(specification, size),
        "data": description,
    }
    return Prepared(batches, late, first_call_peak), answer
