"""Tests how peaks are measured, exactly on a simulated machine, and once with NumPy."""

import time

import pytest

from bench.cell import Cell
from bench.frameworks.numpy.adapter import Adapter
from bench.worker.limits import peaks
from bench.worker.timing import growth
from bench.worker.timing.growth import NoGrowth

SHORT_NS = 20_000_000
CELL = Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1)


class Machine:
    """A framework whose products and copies advance a clock by ``call_ns`` plus the work at the given rates."""

    def __init__(self, flops_per_s=1e12, bytes_per_s=1e11, call_ns=1000, waits=True, compile_ns=0, wait_ns=0):
        self.now = 0
        self.compile_ns, self.wait_ns = compile_ns, wait_ns
        self.owed = 0
        self.flops_per_s, self.bytes_per_s, self.call_ns, self.waits = flops_per_s, bytes_per_s, call_ns, waits
        self.orders = []

    def put(self, array):
        assert array.any()
        return array

    def get(self, value):
        self.now += self.owed
        self.owed = 0

    def _spend(self, work_ns):
        self.now += self.call_ns
        self.owed += int(work_ns)
        return object()

    def multiply(self, left, right):
        assert left.shape == right.shape
        if left.shape[0] not in self.orders:
            self.now += self.compile_ns
        self.orders.append(left.shape[0])
        return self._spend(2e9 * left.shape[0] ** 3 / self.flops_per_s)

    def copy(self, array):
        return self._spend(2e9 * array.nbytes / self.bytes_per_s)

    def synchronize(self, outputs):
        if self.waits:
            self.now += self.wait_ns
            self.get(outputs)

    def rest(self, seconds):
        self.now += int(seconds * 1e9)
        self.owed = max(0, self.owed - int(seconds * 1e9))

    def probe(self, device="cpu"):
        return peaks.Probe(self, "float32", device, clock=lambda: self.now, rest=self.rest)


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(peaks, "BUDGET_NS", {"cpu": SHORT_NS, "gpu": SHORT_NS})


def test_the_rate_of_large_products_is_found():
    machine = Machine(flops_per_s=1e12, call_ns=50_000)
    assert machine.probe().flops_per_s() == pytest.approx(1e12, rel=0.03)


@pytest.mark.parametrize(("flops_per_s", "largest"), [(1e8, 256), (1e10, 512), (1e12, 2048)])
def test_a_slow_machine_is_not_kept_busy_for_long(flops_per_s, largest):
    machine = Machine(flops_per_s)
    machine.probe().flops_per_s()
    assert max(machine.orders) <= largest
    one = 2e9 * 256**3 / flops_per_s
    assert machine.now < 3 * SHORT_NS + 9 * growth.ENOUGH_NS + 20 * one


def test_a_compilation_for_every_order_takes_nothing_from_the_products():
    machine = Machine(flops_per_s=1e12, call_ns=50_000, compile_ns=SHORT_NS)
    assert machine.probe().flops_per_s() == pytest.approx(1e12, rel=0.03)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("CUDA out of memory")])
def test_products_that_do_not_fit_leave_the_rate_of_smaller_ones(error):
    machine = Machine(flops_per_s=1e13, call_ns=50_000)
    place = machine.put

    def put(array):
        if array.shape[0] > 1024:
            raise error
        return place(array)

    whole, machine.put = machine.probe().flops_per_s(), put
    assert 0 < machine.probe().flops_per_s() < whole


def test_bandwidths_are_given_by_working_set():
    found = Machine(bytes_per_s=1e11, call_ns=100).probe().bandwidths(peaks.WORKING_SETS[:6])
    assert [size for size, _ in found] == list(peaks.WORKING_SETS[:6])
    assert found[-1][1] == pytest.approx(1e11, rel=0.01)
    # 32 KiB take 328 ns, and the call 100.
    assert found[0][1] == pytest.approx(1e11 * 328 / 428, rel=0.01)


def test_waiting_for_a_gpu_is_not_part_of_the_time_of_its_copies():
    waiting = {"bytes_per_s": 4e12, "call_ns": 100, "wait_ns": 10_000}
    ((size, rate),) = Machine(**waiting).probe("gpu").bandwidths((1 << 22,))
    # 4 MiB take 1048 ns, the call 100, and a wait after 89 calls 112 for each.
    assert rate == pytest.approx(size / 1260e-9, rel=0.01)
    ((_, alone),) = Machine(**waiting).probe("cpu").bandwidths((1 << 22,))
    assert alone == pytest.approx(size / 11148e-9, rel=0.01)


@pytest.mark.parametrize("what", ["flops_per_s", "bandwidths"])
def test_a_framework_that_does_not_wait_has_no_peaks(what):
    probe = Machine(waits=False).probe()
    with pytest.raises(NoGrowth):
        probe.flops_per_s() if what == "flops_per_s" else probe.bandwidths(peaks.WORKING_SETS)


def test_the_peaks_of_numpy_are_those_of_a_computer():
    # The processor's time: on a busy machine the clock's would not always grow with work.
    probe = peaks.Probe(Adapter("eager", "cpu", "float32", 1), "float32", clock=time.process_time_ns)
    assert 1e8 < probe.flops_per_s() < 1e14
    found = probe.bandwidths((1 << 15, 1 << 17))
    assert [size for size, _ in found] == [1 << 15, 1 << 17]
    assert all(1e6 < rate < 1e14 for _, rate in found)


def test_what_fails_is_left_out_with_its_reason(monkeypatch):
    def bandwidths(self, sizes):
        raise NoGrowth("no copy")

    monkeypatch.setattr(peaks.Probe, "flops_per_s", lambda self: 1e9)
    monkeypatch.setattr(peaks.Probe, "bandwidths", bandwidths)
    found = peaks.find(Adapter("eager", "cpu", "float32", 1), CELL, ["bfloat16", "float32", "float64"])
    assert found["flops_per_s"] == {"float32": 1e9, "float64": 1e9}
    assert found["reasons"] == {"bfloat16": "numpy has no bfloat16", "copy": "no copy"}
    assert found["bandwidths"] == []


def test_a_precision_measured_later_does_not_raise_the_peak_of_the_cells_own(monkeypatch):
    """The last adapter decides a setting of the process, as those of GPUs do with TF32."""
    in_force = []

    class Loose(Adapter):
        def __init__(self, mode, device, precision, threads):
            super().__init__(mode, device, "float32", threads)
            in_force[:] = [precision]

    monkeypatch.setattr(peaks.Probe, "flops_per_s", lambda self: {"float32": 1e9, "tf32": 8e9}[in_force[0]])
    monkeypatch.setattr(peaks.Probe, "bandwidths", lambda self, sizes: [])
    found = peaks.find(Loose("eager", "cpu", "float32", 1), CELL, ["tf32", "float32"])
    assert found["flops_per_s"] == {"float32": 1e9, "tf32": 8e9}


NO = NoGrowth("no")


@pytest.mark.parametrize(
    ("values", "kept"),
    [([2e9, 3e9], 3e9), ([2e9, 1e9], 2e9), ([2e9, NO], 2e9), ([NO, 2e9], 2e9), ([NO, NoGrowth("again")], None)],
)
def test_a_machine_that_was_slow_for_a_moment_is_measured_again(monkeypatch, values, kept):
    left = list(values)

    def flops_per_s(self):
        value = left.pop(0)
        if isinstance(value, Exception):
            raise value
        return value

    monkeypatch.setattr(peaks.Probe, "flops_per_s", flops_per_s)
    monkeypatch.setattr(peaks.Probe, "bandwidths", lambda self, sizes: [])
    found = peaks.find(Adapter("eager", "cpu", "float32", 1), CELL, ["float32"])
    assert left == []
    assert found["flops_per_s"] == ({} if kept is None else {"float32": kept})
    assert found["reasons"] == ({"float32": "no"} if kept is None else {})


@pytest.mark.parametrize(
    ("tries", "kept"), [([[(1 << 15, 1e9)]], True), ([NO, [(1 << 15, 1e9)]], True), ([NO, NO], False)]
)
def test_copies_that_had_no_peak_on_a_busy_machine_are_measured_again(monkeypatch, tries, kept):
    left = list(tries)

    def bandwidths(self, sizes):
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(peaks.Probe, "flops_per_s", lambda self: 1e9)
    monkeypatch.setattr(peaks.Probe, "bandwidths", bandwidths)
    found = peaks.find(Adapter("eager", "cpu", "float32", 1), CELL, ["float32"])
    assert left == []
    assert found["bandwidths"] == ([(1 << 15, 1e9)] if kept else [])
    assert found["reasons"] == ({} if kept else {"copy": "no"})
