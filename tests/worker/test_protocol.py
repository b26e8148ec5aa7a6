"""Tests a real worker process on NumPy cells: the protocol, the private pipe, the stages and the exits."""

import json
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CELL = {
    "environment": "numpy", "framework": "numpy", "mode": "eager", "workload": "mlp-train", "size": "check",
    "precision": "float32", "device": "cpu", "threads": 1,
}  # fmt: skip


class Worker:
    """Starts ``python -m bench.worker`` and sends requests to it as the host does."""

    def __init__(self, *arguments, **options):
        program = options.pop("program", ["-m", "bench.worker"])
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        self.process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )

    def request(self, **fields):
        """Send a request; return the stages that were announced, and the reply."""
        self.process.stdin.write(json.dumps(fields) + "\n")
        self.process.stdin.flush()
        stages = []
        while True:
            message = json.loads(self.process.stdout.readline())
            if message["event"] == "stage":
                stages.append(message["stage"])
            elif message["event"] != "started":
                return stages, message

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(60)
        log = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, log


@pytest.fixture
def first_processor():
    return str(min(os.sched_getaffinity(0)))


@pytest.fixture
def reference(tmp_path):
    path = str(tmp_path / "reference.npz")
    worker = Worker()
    assert worker.request(do="reference", workload="mlp-train", size="check", seed=1, path=path)[1] == {
        "event": "referenced"
    }
    assert worker.close()[0] == 0
    return path


def test_a_cell_goes_through_its_stages(reference, first_processor):
    worker = Worker("--processors", first_processor)
    stages, imported = worker.request(do="import", cell=CELL)
    assert (stages, imported["event"]) == (["import"], "imported")
    assert imported["import_s"] is None, "the worker has imported NumPy for itself"
    stages, prepared = worker.request(do="prepare", seed=1, reference=reference)
    assert stages == ["build", "first-call", "check"]
    assert prepared["first_call_s"] > 0
    assert prepared["work"]["items"] == 8
    assert prepared["work"]["flops_divisor"] == 1.0
    stages, calibrated = worker.request(do="calibrate", sample_s=0.001)
    assert (stages, min(calibrated["warmup_ns"]) > 0) == (["calibrate"], True)
    stages, turn = worker.request(do="turn", samples=2)
    assert stages == ["measure"]
    assert len(turn["sample_ns"]) == len(turn["sample_cpu_ns"]) == len(turn["sample_steps"]) == 2
    assert len(turn["sample_wait_ns"]) in (0, 2)
    assert min(turn["sample_steps"]) >= 1
    assert min(turn["sample_ns"]) > 0
    assert worker.request(do="turn", samples=1)[0] == []
    stages, finished = worker.request(do="finish")
    assert finished["settings"]["threads"] == 1
    assert finished["settings"]["OMP_NUM_THREADS"] == "1"
    assert finished["settings"]["processors"] == 1
    assert finished["settings"]["processor instruction set"]
    assert "planted slowdown" not in finished["settings"]
    assert finished["memory"]["baseline_bytes"] > finished["memory"]["import_bytes"]
    assert finished["compilation"] == {"compiled": "nothing", "recompiled_while_timing": 0}
    assert worker.close()[0] == 0


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_a_worker_moves_with_all_its_threads(reference):
    first, *_, last = sorted(os.sched_getaffinity(0))
    threaded = (
        "import sys, threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "from bench.worker import __main__ as entry, scratch\n"
        "sys.exit(entry.main(scratch.Scratch()))\n"
    )
    worker = Worker("--processors", str(first), program=["-c", threaded])
    worker.request(do="import", cell=CELL)
    worker.request(do="prepare", seed=1, reference=reference)
    worker.request(do="calibrate", sample_s=0.001)
    threads = [int(name) for name in os.listdir("/proc/{}/task".format(worker.process.pid))]
    assert len(threads) > 1
    assert worker.request(do="move", processors=[last])[1] == {"event": "moved"}
    assert {tuple(os.sched_getaffinity(thread)) for thread in threads} == {(last,)}
    assert worker.request(do="turn", samples=1)[1]["sample_ns"]
    assert worker.request(do="finish")[1]["settings"]["processors"] == 1
    assert worker.close()[0] == 0


def test_prints_go_to_the_log_and_never_into_the_pipe(tmp_path):
    noisy = (
        "import ctypes, os, sys\n"
        "from bench.worker.channel import Channel, take_over\n"
        "channel = Channel.over(*take_over())\n"
        "print('from python')\n"
        "os.write(1, b'from the descriptor\\n')\n"
        "ctypes.CDLL(None).puts(b'from C')\n"
        "ctypes.CDLL(None).fflush(None)\n"
        "os.system('echo from a child')\n"
        "for request in channel.requests():\n"
        "    channel.send(event='echo', stdin=sys.stdin.read(), value=request['value'])\n"
    )
    worker = Worker(program=["-c", noisy])
    assert worker.request(value=7)[1] == {"event": "echo", "stdin": "", "value": 7}
    code, log = worker.close()
    assert code == 0
    for line in ("from python", "from the descriptor", "from C", "from a child"):
        assert line in log


def ended(**changes):
    worker = Worker()
    reply = worker.request(do="import", cell=dict(CELL, **changes))[1]
    code, log = worker.close()
    assert code == 1
    return reply, log


def test_a_missing_device_is_unsupported():
    reply, _ = ended(device="gpu")
    assert reply == {
        "event": "ended", "status": "unsupported", "stage": "import", "reason": "numpy computes on the processor only",
    }  # fmt: skip


def test_a_framework_that_cannot_be_imported_has_failed():
    reply, log = ended(framework="torch")
    if reply["event"] == "imported":
        pytest.skip("this interpreter has torch")
    assert (reply["status"], reply["stage"]) == ("failed", "import")
    assert "No module named 'torch'" in reply["reason"]
    assert "Traceback" in log


def test_the_wrong_number_of_threads_is_found(reference):
    worker = Worker()
    worker.request(do="import", cell=dict(CELL, threads=4099))
    _, reply = worker.request(do="prepare", seed=1, reference=reference)
    assert (reply["status"], reply["stage"]) == ("failed", "check")
    assert "4099 threads were asked for" in reply["reason"]
    worker.close()


def test_other_seeds_do_not_match_the_reference(reference, first_processor):
    worker = Worker("--processors", first_processor)
    worker.request(do="import", cell=CELL)
    _, reply = worker.request(do="prepare", seed=2, reference=reference)
    assert (reply["status"], reply["stage"]) == ("mismatch", "check")
    worker.close()


def test_a_memory_limit_ends_the_cell_and_not_the_machine(reference, first_processor, tmp_path):
    worker = Worker("--processors", first_processor)
    # The limit is below what the process already uses, so NumPy's buffers cannot be allocated.
    worker.request(do="import", cell=dict(CELL, size="medium"), memory_limit_bytes=64 << 20)
    _, reply = worker.request(do="prepare", seed=1, reference=reference)
    assert reply["status"] == "out-of-memory"
    worker.close()


def test_a_planted_slowdown_is_reported(reference, first_processor):
    worker = Worker("--processors", first_processor)
    worker.request(do="import", cell=CELL)
    worker.request(do="prepare", seed=1, reference=reference)
    worker.request(do="calibrate", sample_s=0.01, slowdown=0.05)
    worker.request(do="turn", samples=1)
    _, finished = worker.request(do="finish")
    assert finished["settings"]["planted slowdown"] == pytest.approx(0.05, rel=0.1)
    worker.close()


def program_of(*lines):
    """Return the arguments of a worker whose NumPy ``Adapter`` is changed by ``lines``."""
    start = ["import sys", "from bench.frameworks.numpy.adapter import Adapter"]
    end = ["from bench.worker.__main__ import main, Scratch", "sys.exit(main(Scratch()))"]
    return ["-c", "\n".join([*start, *lines, *end])]


def test_a_recompilation_while_timing_is_counted(reference, first_processor):
    counting = ["calls = [0]", "def compilation(self):", "    calls[0] += 3"]
    counting += ["    return {'compiled': 'forward', 'graphs': 2, 'compilations': calls[0]}"]
    program = program_of(*counting, "Adapter.compilation = compilation")
    worker = Worker("--processors", first_processor, program=program)
    worker.request(do="import", cell=CELL)
    assert worker.request(do="prepare", seed=1, reference=reference)[1]["event"] == "prepared"
    assert worker.request(do="calibrate", sample_s=0.001)[1]["event"] == "calibrated"
    _, finished = worker.request(do="finish")
    assert finished["compilation"] == {"compiled": "forward", "graphs": 2, "recompiled_while_timing": 3}
    worker.close()


@pytest.mark.long
def test_steps_that_are_not_waited_for_end_the_cell(reference, first_processor):
    """The adapter's steps return at once; fetching their outputs takes the time."""
    later = ["import time", "get = Adapter.get", "from bench.worker.timing import timed_program"]
    later += ["steps = [0]", "make = timed_program.Stopwatch"]
    later += ["def ordered(run, *rest, **options):", "    def counted(batches):"]
    later += ["        steps[0] += len(batches)", "        return run(batches)"]
    later += ["    return make(counted, *rest, **options)", "timed_program.Stopwatch = ordered"]
    later += ["def late(self, value):", "    time.sleep(steps[0] * 2e-3)", "    steps[0] = 0"]
    later += ["    return get(self, value)", "Adapter.get = late"]
    worker = Worker("--processors", first_processor, program=program_of(*later))
    worker.request(do="import", cell=CELL)
    worker.request(do="prepare", seed=1, reference=reference)
    worker.request(do="calibrate", sample_s=0.001)
    _, reply = worker.request(do="finish")
    assert (reply["status"], reply["stage"]) == ("failed", "finish")
    assert reply["reason"].startswith("time does not grow with work: after ")
    worker.close()


def test_growth_is_not_verified_where_that_was_not_requested(reference, first_processor):
    """The program would not pass: its time never grows."""
    never = ["from bench.worker.timing import growth", "def fails(*_):", "    raise growth.NoGrowth('never')"]
    worker = Worker("--processors", first_processor, program=program_of(*never, "growth.verify = fails"))
    worker.request(do="import", cell=CELL)
    worker.request(do="prepare", seed=1, reference=reference)
    worker.request(do="calibrate", sample_s=0.001)
    worker.request(do="turn", samples=1)
    assert worker.request(do="finish", growth=False)[1]["event"] == "finished"
    assert worker.request(do="finish", growth=True)[1]["reason"] == "never"
    worker.close()


def test_timed_samples_call_run_and_the_end_of_a_program_calls_close(reference, first_processor):
    """The program counts its runs and steps; the check and the first call take single steps."""
    counting = ["import os", "from bench.worker.live_cell import LiveCell", "first_call = LiveCell.first_call"]
    counting += ["def changed(self, *arguments):", "    program, first_s = first_call(self, *arguments)"]
    counting += ["    def run(batches):", "        os.write(2, b'run %d\\n' % len(batches))"]
    counting += ["        return [program.step(*batch) for batch in batches][-1]"]
    counting += ["    self.program = program._replace(run=run, close=lambda: os.write(2, b'closed\\n'))"]
    counting += ["    return self.program, first_s", "LiveCell.first_call = changed"]
    worker = Worker("--processors", first_processor, program=program_of(*counting))
    worker.request(do="import", cell=CELL)
    worker.request(do="prepare", seed=1, reference=reference)
    worker.request(do="calibrate", sample_s=0.001)
    _, turn = worker.request(do="turn", samples=3)
    _, finished = worker.request(do="finish", growth=False)
    assert finished["settings"]["synchronised"] == "every sample"
    code, log = worker.close()
    assert code == 0
    lines = log.decode().splitlines() if isinstance(log, bytes) else log.splitlines()
    assert lines.pop() == "closed"
    # The outputs are checked again after timing: by single steps, and by one run of as many.
    assert lines.pop() == "run {}".format(finished["checked_again"])
    for _ in range(finished["checked_again"]):
        assert lines.pop() == "run 1"
    assert lines[-3:] == ["run {}".format(steps) for steps in turn["sample_steps"]]


def test_peaks_are_measured(first_processor):
    # The processor's time: on a busy machine the clock's would not always grow with work.
    patient = ["import time", "from bench.worker.limits import peaks", "defaults = peaks.Probe.__init__.__defaults__"]
    patient += ["clocks = {time.perf_counter_ns: time.process_time_ns}"]
    patient += ["peaks.Probe.__init__.__defaults__ = tuple(clocks.get(value, value) for value in defaults)"]
    worker = Worker("--processors", first_processor, program=program_of(*patient))
    worker.request(do="import", cell=dict(CELL, workload="gemm"))
    stages, reply = worker.request(do="peaks", precisions=["float32"])
    assert (stages, reply["event"], reply["reasons"]) == (["measure"], "peaks", {})
    assert reply["flops_per_s"]["float32"] > 1e8
    assert reply["bandwidths"][0][0] == 1 << 15
    worker.close()


def test_a_batch_fits_under_a_cap_or_ends_the_cell(first_processor):
    replies = []
    for items in (50, 500_000):
        worker = Worker("--processors", first_processor)
        worker.request(do="import", cell=CELL, cap_bytes=64 << 20)
        replies.append(worker.request(do="fit", seed=1, items=items))
        worker.close()
    (stages, fitted), (_, ended) = replies
    assert stages == ["build", "first-call"]
    assert (fitted["event"], fitted["items"], fitted["item"]) == ("fitted", 50, "row")
    assert 0 <= fitted["peak_bytes"] < 64 << 20
    assert (ended["status"], ended["stage"]) == ("out-of-memory", "first-call")


def test_a_workload_without_a_batch_is_unsupported(first_processor):
    worker = Worker("--processors", first_processor)
    worker.request(do="import", cell=dict(CELL, workload="gemm"), cap_bytes=64 << 20)
    _, reply = worker.request(do="fit", seed=1, items=2)
    assert (reply["status"], reply["reason"]) == (
        "unsupported", "workload gemm has no batch that could be made larger",
    )  # fmt: skip
    worker.close()


def test_wrong_arguments_are_explained():
    worker = Worker("--cores", "1")
    code, log = worker.close()
    assert code == 2
    assert "usage: python -m bench.worker" in log
