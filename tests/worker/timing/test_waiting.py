"""Tests the waiting time, with a simulated /proc and once with two processes on one processor."""

import os
import subprocess
import sys
import time

import pytest
from test_stopwatch import Bench

from bench.worker.timing.waiting import Waiting

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Proc:
    """A simulated /proc."""

    def __init__(self, folder):
        self.path = str(folder)
        (folder / "self" / "task").mkdir(parents=True)
        self._tasks = folder / "self" / "task"
        self._stat = folder / "stat"

    def thread(self, number, ready_ns, on_ns=5):
        (self._tasks / str(number)).mkdir(exist_ok=True)
        (self._tasks / str(number) / "schedstat").write_text("{} {} 9\n".format(on_ns, ready_ns))

    def end(self, number):
        (self._tasks / str(number) / "schedstat").unlink()
        (self._tasks / str(number)).rmdir()

    def stolen(self, *ticks):
        lines = ["cpu  1 2 3 4 5 6 7 {} 0 0".format(sum(ticks))]
        lines += ["cpu{} 1 2 3 4 5 6 7 {} 0 0".format(number, count) for number, count in enumerate(ticks)]
        self._stat.write_text("\n".join([*lines, "intr 1 2 3", "ctxt 5"]) + "\n")


@pytest.fixture
def proc(tmp_path):
    return Proc(tmp_path)


def test_the_waiting_of_all_threads_is_counted_since_the_last_call(proc):
    proc.thread(1, 100)
    proc.thread(2, 1000)
    waiting = Waiting([0], proc.path)
    waiting()
    assert waiting() == 0
    proc.thread(1, 150)
    proc.thread(2, 1007)
    assert waiting() == 57


def test_threads_come_and_go(proc):
    proc.thread(1, 100)
    proc.thread(2, 1000)
    waiting = Waiting([0], proc.path)
    waiting()
    proc.end(2)
    proc.thread(3, 30)
    proc.thread(1, 101)
    assert waiting() == 31
    # A new thread has the number of the old one.
    proc.thread(3, 4)
    assert waiting() == 0


def test_a_thread_that_ends_while_it_is_read_is_skipped(proc):
    proc.thread(1, 100)
    waiting = Waiting([0], proc.path)
    waiting()
    os.mkdir(os.path.join(proc.path, "self", "task", "2"))
    proc.thread(1, 120)
    assert waiting() == 20


def test_the_time_that_a_hypervisor_took_from_the_bound_processors_is_added(proc):
    proc.thread(1, 100)
    proc.stolen(10, 20, 30)
    waiting = Waiting([0, 2], proc.path)
    waiting()
    assert waiting() == 0
    proc.stolen(11, 90, 32)
    proc.thread(1, 107)
    assert waiting() == 3 * TICK_NS + 7


def test_a_moved_process_watches_its_new_processors(proc):
    proc.thread(1, 100)
    proc.stolen(10, 20)
    waiting = Waiting([0], proc.path)
    waiting()
    proc.stolen(17, 20)
    waiting.watch([1])
    proc.thread(1, 107)
    assert waiting() == 7
    proc.stolen(30, 22)
    assert waiting() == 2 * TICK_NS


def test_the_hypervisor_s_time_is_not_read_again_where_it_was_zero(proc):
    proc.thread(1, 100)
    proc.stolen(0, 50)
    waiting = Waiting([0], proc.path)
    waiting()
    proc.stolen(5, 60)
    assert waiting() == 0


def test_a_kernel_that_reports_only_zeros_gives_no_waiting(proc):
    proc.thread(1, 0, on_ns=0)
    assert Waiting([0], proc.path)() is None


def test_a_kernel_without_the_files_gives_no_waiting(proc):
    os.mkdir(os.path.join(proc.path, "self", "task", "1"))
    assert Waiting([0], proc.path)() is None
    assert Waiting([0], os.path.join(proc.path, "nowhere"))() is None


def test_every_sample_has_its_waiting_and_waiting_between_turns_does_not_count():
    bench = Bench(step_ns=1000)
    readings = iter([900, 10, 20, 800, 30])
    stopwatch = bench.stopwatch(waited=lambda: next(readings))
    assert stopwatch.turn(samples=2).sample_wait_ns == [10, 20]
    assert stopwatch.turn(samples=1).sample_wait_ns == [30]


def test_reading_the_waiting_is_outside_of_the_timed_region():
    bench = Bench(step_ns=1000)

    def waited():
        bench.now += 500_000
        bench.cpu += 500_000
        return 0

    turn = bench.stopwatch(waited=waited).turn(samples=3)
    assert turn.sample_ns == [1000] * 3
    assert turn.sample_cpu_ns == [2000] * 3


@pytest.mark.parametrize("readings", [[None] * 4, [0, 5, None, 5], [None, 5, 5, 5]])
def test_samples_have_no_waiting_unless_all_have(readings):
    readings = iter(readings)
    assert Bench(step_ns=1000).stopwatch(waited=lambda: next(readings)).turn(samples=3).sample_wait_ns == []


def test_two_processes_on_one_processor_wait_for_each_other():
    if Waiting([])() is None:
        pytest.skip("this kernel does not count")
    processor = min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    spin = "import os, time\nos.sched_setaffinity(0, [{}])\nprint('ready', flush=True)\nwhile True: pass".format(
        processor
    )
    other = subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE)
    try:
        other.stdout.readline()
        os.sched_setaffinity(0, [processor])
        waiting = Waiting([processor])
        waiting()
        # The processor's time: both stand still where the whole machine does.
        start = time.process_time_ns()
        while time.process_time_ns() - start < 150_000_000:
            pass
        assert waiting() > 50_000_000
    finally:
        os.sched_setaffinity(0, before)
        other.kill()
        other.wait()
        other.stdout.close()
