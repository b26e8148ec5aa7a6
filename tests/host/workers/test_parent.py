"""Tests real parents of forked workers: imports that fail, crash and hang, what they do in advance, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import odd_framework
import pytest
from processes import PATIENCE_S, ROOT, alive, end_of, gone, prepare


def test_an_import_that_fails_is_the_reason_of_every_cell(parent, fork):
    common = parent(at_import="raise ImportError('libodd.so is missing')")
    for worker in (fork(common), fork(common)):
        ended = end_of(worker)
        assert (ended.status, ended.stage) == ("failed", "import")
        assert "ImportError: libodd.so is missing" in ended.reason


def test_an_import_that_crashes_is_the_reason_of_every_cell(parent, fork):
    common = parent(at_import="print('cannot go on', file=sys.stderr, flush=True); os.abort()")
    for worker in (fork(common), fork(common)):
        ended = end_of(worker)
        assert (ended.status, ended.stage) == ("failed", "import")
        assert ended.reason == "killed by SIGABRT: cannot go on"


def test_an_import_that_hangs_is_a_timeout_of_every_cell(parent, fork):
    common = parent(at_import="time.sleep(1000)")
    # The start of the interpreter is not part of the time.
    assert common.wait_for(lambda: common.stage == "import", PATIENCE_S)
    common.await_import(2.0)
    ended = end_of(fork(common))
    assert (ended.status, ended.stage, ended.reason) == ("timeout", "import", "no answer within 2 s")
    assert not alive(common._connection.process_id)


@pytest.mark.usefixtures("no_oom_kills_beside")
def test_workers_end_with_their_parent_and_tell_why(parent, fork):
    common = parent()
    worker = fork(common)
    worker.receive(PATIENCE_S)
    worker.pause()
    os.kill(common._connection.process_id, signal.SIGKILL)
    worker.resume()
    ended = end_of(worker)
    assert (ended.status, ended.stage) == ("failed", "import")
    assert ended.reason == "the process that it was forked from ended: killed by SIGKILL"
    assert gone(worker.process_id)


def test_parent_and_workers_die_with_their_host_even_when_stopped(tmp_path):
    source = odd_framework.make(tmp_path / "source")
    host = (
        "import sys, time; from pathlib import Path\n"
        "from bench.host.environments.variables import of_process\n"
        "from bench.host.workers.parent import Parent\n"
        "from bench.host.workers.worker_process import WorkerProcess\n"
        f"root, folder = Path({str(ROOT)!r}), Path({str(tmp_path)!r})\n"
        "w = WorkerProcess([sys.executable], folder=root, variables=of_process(1), log=folder / 'p.log',"
        f" processors=[], sources={source!r}, parent=True)\n"
        "p = Parent(w, 'odd', lambda outer, inner: inner)\n"
        "f = p.fork(log=folder / 'f.log', processors=[], layout=None, variables={})\n"
        f"f.send(do='import', cell={odd_framework.CELL.to_json()!r}); f.receive(PATIENCE_S)\n"
        "f.pause(); print(w.process_id, f.process_id, flush=True); time.sleep(1000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", host], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ids = [int(word) for word in process.stdout.readline().split()]
    assert all(map(alive, ids))
    process.kill()
    process.wait()
    process.stdout.close()
    assert all(map(gone, ids))


SLOW = "import time; time.advance(100); kept = b'x' * (20 << 20)"
#: The same, where a function does it, and keeps the result.
SLOW_FUNCTION = f"kept = None\ndef work():\n    global kept\n    {SLOW}"
FAILING = "\ndef failing():\n    raise RuntimeError('no device')"


@pytest.mark.parametrize(
    ("module", "preloaded"),
    [(SLOW + FAILING, "slow_module"), (SLOW_FUNCTION + FAILING, "slow_module:work")],
    ids=["import", "call"],
)
def test_a_first_call_counts_what_the_parent_did_for_its_mode(parent, fork, reference, tmp_path, module, preloaded):
    (tmp_path / "slow_module.py").write_text(module)
    (tmp_path / "failing_module.py").write_text("raise RuntimeError('no device')")
    at_import = f"{odd_framework.STANDING_CLOCK}sys.path.insert(0, {str(tmp_path)!r})"
    common = parent(module=preloaded, at_import=at_import)
    # The import of a worker that was forked before anything was preloaded.
    before = fork(common)
    import_s = before.receive(PATIENCE_S)["import_s"]
    before.close()
    failing = ("no_such_module", "failing_module", "slow_module:no_such_function", "slow_module:failing")
    common.preload((preloaded, *failing), PATIENCE_S)
    first_s, memory = {}, {}
    for mode in ("plain", "slow"):
        worker = fork(common, mode)
        # The clock is a larger number by now, whose differences are rounded otherwise.
        assert worker.receive(PATIENCE_S)["import_s"] == pytest.approx(import_s)
        prepare(worker, reference)
        first_s[mode] = worker.receive(PATIENCE_S)["first_call_s"]
        worker.send(do="finish")
        memory[mode] = worker.receive(PATIENCE_S)["memory"]
        worker.close()
    # Once, in one of them.
    assert first_s == {"plain": 0.0, "slow": pytest.approx(100.0)}
    assert memory["slow"]["peak_bytes"] - memory["plain"]["peak_bytes"] == pytest.approx(20 << 20, rel=0.3)
    assert memory["slow"]["baseline_bytes"] == pytest.approx(memory["plain"]["baseline_bytes"], rel=0.05)
