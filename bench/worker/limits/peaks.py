"""Measures a machine's peak rates with a framework: FLOP/s of matrix products and bytes per second of copies.

A cell that is faster than these peaks did not do its work. The peaks pass the same test as a cell: their time must grow
with work.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any, Callable, Dict, Iterable, List, Tuple

import numpy as np

from ...cell import MIXED, Cell
from ...record import OUT_OF_MEMORY
from ..exit_status import reason_of, status_of
from ..timing import growth

ITEMSIZE = {"float64": 8, "float32": 4, "tf32": 4, "float16": 2, "bfloat16": 2, MIXED: 4, "int8": 1}
#: Orders of the square matrices, tried in turn until the rate stops growing or the time is over.
ORDERS = (256, 512, 1024, 2048, 4096, 8192, 16384)
#: The rate has stopped growing when ``IDLE_ORDERS`` orders in a row raise it by less than this factor.
GAIN = 1.03
IDLE_ORDERS = 2
#: Time for the products of one precision, and for all copies together. A GPU needs larger matrices, so more of it.
BUDGET_NS = {"cpu": 750_000_000, "gpu": 1_500_000_000}
#: The best of at least this many repeats counts, of more where the time allows it.
LEAST_REPEATS = 2
#: Bytes that a copy reads and writes in total.
WORKING_SETS = tuple(1 << power for power in (15, 17, 19, 21, 22, 23, 24, 25, 26, 27, 28))
#: The larger caches of GPUs need larger working sets.
GPU_WORKING_SETS = (*WORKING_SETS, 1 << 29, 1 << 30)
#: On a GPU, copies are timed in series of about this length, as steps are. A wait for each takes longer than a copy
#: within the cache, and right steps were faster than that peak.
SERIES_NS = {"cpu": 0, "gpu": 1_000_000}
#: The growth test uses the largest of these orders whose product takes at most ``PROVED_NS``: on a GPU the product must
#: take longer than its launch, and some precisions have only slow kernels.
PROVED_ORDERS = (1024, 512, 256)
PROVED_NS = 20_000_000


def normal(count: int, seed: int = 0) -> Any:
    """Draw float32 numbers that repeat after a million, as drawing more takes longer than computing with them."""
    drawn = np.random.RandomState(seed).standard_normal(min(count, 1 << 20)).astype(np.float32)
    return np.resize(drawn, count)


class Probe:
    """Measures the peaks of one adapter."""

    def __init__(
        self,
        adapter: Any,
        precision: str,
        device: str = "cpu",
        clock: Callable[[], int] = time.perf_counter_ns,
        rest: Callable[[float], None] = time.sleep,
    ) -> None:
        """``clock`` gives nanoseconds, ``rest`` takes seconds."""
        self._adapter = adapter
        self._itemsize = ITEMSIZE[precision]
        self._budget_ns = BUDGET_NS[device]
        self._series_ns = SERIES_NS[device]
        self._clock = clock
        self._rest = rest

    def _time(self, compute: Callable[..., Any], arrays: Tuple[Any, ...], calls: int = 1) -> int:
        """Return the nanoseconds of so many calls with one wait at their end."""
        start = self._clock()
        for _ in range(calls):
            output = compute(*arrays)
        self._adapter.synchronize({"out": output})
        return max(1, self._clock() - start)

    def _best(
        self, compute: Callable[..., Any], arrays: Tuple[Any, ...], budget_ns: float, calls: int = 1
    ) -> Tuple[int, int]:
        """Return the shortest time of several series of calls and their sum, without the first, which may compile."""
        self._time(compute, arrays, calls)
        best = spent = self._time(compute, arrays, calls)
        repeats = 1
        while repeats < LEAST_REPEATS or spent < budget_ns:
            elapsed = self._time(compute, arrays, calls)
            best, spent, repeats = min(best, elapsed), spent + elapsed, repeats + 1
        return best, spent

    def _matrix(self, order: int, seed: int) -> Any:
        # Scaled so that 16-bit products stay finite.
        return self._adapter.put(normal(order * order, seed).reshape(order, order) / np.float32(order**0.5))

    def flops_per_s(self) -> float:
        """Return the floating-point operations per second of the best square product."""
        multiply = self._adapter.multiply
        self._prove(multiply, self._short_product())
        # Only products count: compiling and drawing once left a GPU no time for matrices that fill it.
        left, best, last, idle = self._budget_ns, 0.0, 0, 0
        for order in ORDERS:
            # Twice the order takes eight times as long.
            if idle == IDLE_ORDERS or 8 * last * (1 + LEAST_REPEATS) > left:
                break
            try:
                matrices = (self._matrix(order, 1), self._matrix(order, 2))
                last, spent = self._best(multiply, matrices, left / len(ORDERS))
            except Exception as error:
                if not best or status_of(error) != OUT_OF_MEMORY:
                    raise
                break  # The rate of smaller ones stays valid, as on a part of a GPU.
            left -= spent
            rate = 2.0 * order**3 / last * 1e9
            idle = 0 if rate > GAIN * best else idle + 1
            best = max(best, rate)
        return best

    def _short_product(self) -> Tuple[Any, ...]:
        """Choose the matrices of the growth test by the time of the smallest product."""
        smallest = (self._matrix(PROVED_ORDERS[-1], 1), self._matrix(PROVED_ORDERS[-1], 2))
        self._time(self._adapter.multiply, smallest)
        elapsed = self._time(self._adapter.multiply, smallest)
        for order in PROVED_ORDERS[:-1]:
            if elapsed * (order // PROVED_ORDERS[-1]) ** 3 <= PROVED_NS:
                return (self._matrix(order, 1), self._matrix(order, 2))
        return smallest

    def bandwidths(self, sizes: Tuple[int, ...]) -> List[Tuple[int, float]]:
        """Return ``(working set in bytes, bytes read and written per second)`` of copies, smallest first."""
        copy = self._adapter.copy
        self._prove(copy, (self._adapter.put(normal(1 << 20)),))
        found = []
        for size in sizes:
            array = self._adapter.put(normal(size // 2 // self._itemsize))
            calls = self._series(copy, (array,))
            elapsed, _ = self._best(copy, (array,), self._budget_ns / len(sizes), calls)
            found.append((size, size * calls / elapsed * 1e9))
        return found

    def _series(self, compute: Callable[..., Any], arrays: Tuple[Any, ...]) -> int:
        """Return how many calls have one wait."""
        if not self._series_ns:
            return 1
        self._time(compute, arrays)
        return max(1, self._series_ns // self._time(compute, arrays))

    def _prove(self, compute: Callable[..., Any], arrays: Tuple[Any, ...]) -> None:
        """Raise NoGrowth unless the time of ``compute`` grows with the number of calls."""

        def begin() -> None:
            self._adapter.get(compute(*arrays))

        def measure(steps: int, rest_ns: float = 0.0) -> growth.StepTimes:
            start = self._clock()
            for _ in range(steps):
                output = compute(*arrays)
                self._adapter.synchronize({"out": output})
            stepped = self._clock()
            if rest_ns:
                self._rest(rest_ns / 1e9)
            rested = self._clock()
            self._adapter.get(output)
            return growth.StepTimes(stepped - start, self._clock() - rested)

        begin()
        growth.verify(begin, measure, self._time(compute, arrays))


def find(adapter: Any, cell: Cell, precisions: Iterable[str]) -> Dict[str, Any]:
    """Measure the peaks of every precision, and of copies in the cell's precision.

    Returns ``flops_per_s`` by precision, ``bandwidths``, and ``reasons``: why a precision, or "copy", is missing.
    """
    rates: Dict[str, float] = {}
    bandwidths: List[Tuple[int, float]] = []
    reasons: Dict[str, str] = {}

    def made(precision: str) -> Any:
        return type(adapter)(cell.mode, cell.device, precision, cell.threads)

    # The cell's precision comes first: the adapter of another may change settings of the whole process.
    for precision in sorted(precisions, key=lambda name: name != cell.precision):
        try:
            at = adapter if precision == cell.precision else made(precision)
            rates[precision] = Probe(at, precision, cell.device).flops_per_s()
        except Exception as error:  # The other precisions can still be measured.
            reasons[precision] = reason_of(error)
    sizes = GPU_WORKING_SETS if cell.device == "gpu" else WORKING_SETS
    copies = Probe(adapter, cell.precision, cell.device)
    try:
        bandwidths = copies.bandwidths(sizes)
    except Exception as error:  # The rates stay valid.
        reasons["copy"] = reason_of(error)
    # What slowed the machine for a second or two has passed, such as the end of an installation: a peak that is too
    # low, or missing, fails cells that are right. What the first measurement said stays valid where the second fails.
    if cell.precision in rates or cell.precision in reasons:
        # An adapter that is made again undoes what the others changed: float32 products would be in TF32.
        with contextlib.suppress(Exception):
            again = Probe(made(cell.precision), cell.precision, cell.device).flops_per_s()
            rates[cell.precision] = max(rates.get(cell.precision, 0.0), again)
            reasons.pop(cell.precision, None)
    if "copy" in reasons:
        with contextlib.suppress(Exception):
            bandwidths = copies.bandwidths(sizes)
            del reasons["copy"]
    return {"flops_per_s": rates, "bandwidths": bandwidths, "reasons": reasons}
