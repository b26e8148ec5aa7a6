"""Tests a real worker process on NumPy cells: the protocol, the private pipe, the stages and the ends."""

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


class Conversation:
    """Talks to ``python -m bench.worker`` as the host does."""

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

    def ask(self, **request):
        """Send a request; return the stages it went through and the answer."""
        self.process.stdin.write(json.dumps(request) + "\n")
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
        code = self.process.wait(30)
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
    talk = Conversation()
    assert talk.ask(do="reference", workload="mlp-train", size="check", seed=1, path=path)[1] == {"event": "referenced"}
    assert talk.close()[0] == 0
    return path


def test_a_cell_lives_through_its_stages(reference, first_processor):
    talk = Conversation("--processors", first_processor)
    stages, imported = talk.ask(do="import", cell=CELL)
    assert (stages, imported["event"]) == (["import"], "imported")
    assert imported["import_s"] > 0
    stages, prepared = talk.ask(do="prepare", seed=1, reference=reference, sample_s=0.001)
    assert stages == ["build", "first-call", "check", "calibrate"]
    assert prepared["first_call_s"] > 0
    assert prepared["work"]["items"] == 8
    assert prepared["work"]["flops_divisor"] == 1.0
    stages, turn = talk.ask(do="turn", samples=2)
    assert stages == ["measure"]
    assert len(turn["sample_ns"]) == len(turn["sample_cpu_ns"]) == len(turn["sample_steps"]) == 2
    assert len(turn["sample_wait_ns"]) in (0, 2)
    assert min(turn["sample_steps"]) >= 1
    assert min(turn["sample_ns"]) > 0
    assert talk.ask(do="turn", samples=1)[0] == []
    stages, finished = talk.ask(do="finish")
    assert finished["settings"]["threads"] == 1
    assert finished["settings"]["OMP_NUM_THREADS"] == "1"
    assert finished["settings"]["processors"] == 1
    assert finished["settings"]["processor instruction set"]
    assert "planted slowdown" not in finished["settings"]
    assert finished["memory"]["baseline_bytes"] > finished["memory"]["import_bytes"]
    assert finished["compilation"] == {"compiled": "nothing", "recompiled_while_timing": 0}
    assert talk.close()[0] == 0


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="nowhere to go")
def test_a_worker_moves_with_all_its_threads(reference):
    first, *_, last = sorted(os.sched_getaffinity(0))
    threaded = (
        "import sys, threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "from bench.worker import __main__ as worker, scratch\n"
        "sys.exit(worker.main(scratch.Scratch()))\n"
    )
    talk = Conversation("--processors", str(first), program=["-c", threaded])
    talk.ask(do="import", cell=CELL)
    talk.ask(do="prepare", seed=1, reference=reference, sample_s=0.001)
    threads = [int(name) for name in os.listdir("/proc/{}/task".format(talk.process.pid))]
    assert len(threads) > 1
    assert talk.ask(do="move", processors=[last])[1] == {"event": "moved"}
    assert {tuple(os.sched_getaffinity(thread)) for thread in threads} == {(last,)}
    assert talk.ask(do="turn", samples=1)[1]["sample_ns"]
    assert talk.ask(do="finish")[1]["settings"]["processors"] == 1
    assert talk.close()[0] == 0


def test_prints_go_to_the_log_and_never_into_the_pipe(tmp_path):
    noisy = (
        "import ctypes, os, sys\n"
        "from bench.worker.channel import Channel\n"
        "channel = Channel.take_over()\n"
        "print('from python')\n"
        "os.write(1, b'from the descriptor\\n')\n"
        "ctypes.CDLL(None).puts(b'from C')\n"
        "ctypes.CDLL(None).fflush(None)\n"
        "os.system('echo from a child')\n"
        "for request in channel.requests():\n"
        "    channel.send(event='echo', stdin=sys.stdin.read(), value=request['value'])\n"
    )
    talk = Conversation(program=["-c", noisy])
    assert talk.ask(value=7)[1] == {"event": "echo", "stdin": "", "value": 7}
    code, log = talk.close()
    assert code == 0
    for said in ("from python", "from the descriptor", "from C", "from a child"):
        assert said in log


def ended(**changes):
    talk = Conversation()
    answer = talk.ask(do="import", cell=dict(CELL, **changes))[1]
    code, log = talk.close()
    assert code == 1
    return answer, log


def test_what_does_not_exist_is_unsupported():
    answer, _ = ended(device="gpu")
    assert answer == {
        "event": "ended", "status": "unsupported", "stage": "import", "reason": "numpy computes on the processor only",
    }  # fmt: skip


def test_a_framework_that_cannot_be_imported_has_failed():
    answer, log = ended(framework="torch")
    if answer["event"] == "imported":
        pytest.skip("this interpreter has torch")
    assert (answer["status"], answer["stage"]) == ("failed", "import")
    assert "No module named 'torch'" in answer["reason"]
    assert "Traceback" in log


def test_the_wrong_number_of_threads_is_found(reference):
    talk = Conversation()
    talk.ask(do="import", cell=dict(CELL, threads=4099))
    _, answer = talk.ask(do="prepare", seed=1, reference=reference, sample_s=0.001)
    assert (answer["status"], answer["stage"]) == ("failed", "check")
    assert "4099 threads were asked for" in answer["reason"]
    talk.close()


def test_other_seeds_do_not_match_the_reference(reference, first_processor):
    talk = Conversation("--processors", first_processor)
    talk.ask(do="import", cell=CELL)
    _, answer = talk.ask(do="prepare", seed=2, reference=reference, sample_s=0.001)
    assert (answer["status"], answer["stage"]) == ("mismatch", "check")
    talk.close()


def test_a_memory_limit_ends_the_cell_and_not_the_machine(reference, first_processor, tmp_path):
    talk = Conversation("--processors", first_processor)
    # NumPy's own buffers do not fit beside what is there already.
    talk.ask(do="import", cell=dict(CELL, size="medium"), memory_limit_bytes=64 << 20)
    _, answer = talk.ask(do="prepare", seed=1, reference=reference, sample_s=0.001)
    assert answer["status"] == "out-of-memory"
    talk.close()


def test_a_planted_slowdown_is_told(reference, first_processor):
    talk = Conversation("--processors", first_processor)
    talk.ask(do="import", cell=CELL)
    talk.ask(do="prepare", seed=1, reference=reference, sample_s=0.01, slowdown=0.05)
    talk.ask(do="turn", samples=1)
    _, finished = talk.ask(do="finish")
    assert finished["settings"]["planted slowdown"] == pytest.approx(0.05, rel=0.1)
    talk.close()


def program_of(*lines):
    """A worker whose numpy adapter is changed by ``lines``; the class is ``Adapter``."""
    start = ["import sys", "from bench.frameworks.numpy.adapter import Adapter"]
    end = ["from bench.worker.__main__ import main, Scratch", "sys.exit(main(Scratch()))"]
    return ["-c", "\n".join([*start, *lines, *end])]


def test_a_recompilation_while_timing_is_counted(reference, first_processor):
    counting = ["calls = [0]", "def compilation(self):", "    calls[0] += 3"]
    counting += ["    return {'compiled': 'forward', 'graphs': 2, 'compilations': calls[0]}"]
    program = program_of(*counting, "Adapter.compilation = compilation")
    talk = Conversation("--processors", first_processor, program=program)
    talk.ask(do="import", cell=CELL)
    assert talk.ask(do="prepare", seed=1, reference=reference, sample_s=0.001)[1]["event"] == "prepared"
    _, finished = talk.ask(do="finish")
    assert finished["compilation"] == {"compiled": "forward", "graphs": 2, "recompiled_while_timing": 3}
    talk.close()


def test_steps_that_are_not_waited_for_end_the_cell(reference, first_processor):
    """An adapter whose outputs come later: fetching them is what takes the time."""
    later = ["import time", "get = Adapter.get", "from bench.worker.timing import stopwatch"]
    later += ["steps = [0]", "run = stopwatch.run_steps"]
    later += ["def ordered(step, batches, count, *rest):", "    steps[0] += count"]
    later += ["    return run(step, batches, count, *rest)", "stopwatch.run_steps = ordered"]
    later += ["def late(self, value):", "    time.sleep(steps[0] * 2e-3)", "    steps[0] = 0"]
    later += ["    return get(self, value)", "Adapter.get = late"]
    talk = Conversation("--processors", first_processor, program=program_of(*later))
    talk.ask(do="import", cell=CELL)
    _, answer = talk.ask(do="prepare", seed=1, reference=reference, sample_s=0.001)
    assert (answer["status"], answer["stage"]) == ("failed", "calibrate")
    assert answer["reason"].startswith("time does not grow with work: after ")
    talk.close()


def test_peaks_are_found(first_processor):
    talk = Conversation("--processors", first_processor)
    talk.ask(do="import", cell=dict(CELL, workload="gemm"))
    stages, answer = talk.ask(do="peaks", precisions=["float32"])
    assert (stages, answer["event"], answer["reasons"]) == (["measure"], "peaks", {})
    assert answer["flops_per_s"]["float32"] > 1e8
    assert answer["bandwidths"][0][0] == 1 << 15
    talk.close()


def test_a_batch_fits_under_a_cap_or_ends_the_cell(first_processor):
    answers = []
    for items in (50, 500_000):
        talk = Conversation("--processors", first_processor)
        talk.ask(do="import", cell=CELL, cap_bytes=64 << 20)
        answers.append(talk.ask(do="fit", seed=1, items=items))
        talk.close()
    (stages, fitted), (_, ended) = answers
    assert stages == ["build", "first-call"]
    assert (fitted["event"], fitted["items"], fitted["item"]) == ("fitted", 50, "row")
    assert 0 <= fitted["peak_bytes"] < 64 << 20
    assert (ended["status"], ended["stage"]) == ("out-of-memory", "first-call")


def test_a_workload_without_a_batch_is_unsupported(first_processor):
    talk = Conversation("--processors", first_processor)
    talk.ask(do="import", cell=dict(CELL, workload="gemm"), cap_bytes=64 << 20)
    _, answer = talk.ask(do="fit", seed=1, items=2)
    assert (answer["status"], answer["reason"]) == (
        "unsupported", "workload gemm has no batch that could be made larger",
    )  # fmt: skip
    talk.close()


def test_wrong_arguments_are_explained():
    talk = Conversation("--cores", "1")
    code, log = talk.close()
    assert code == 2
    assert "usage: python -m bench.worker" in log
