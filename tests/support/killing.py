"""Kills the hosts, groups, workers and containers of a study at random moments, and continues it.

Every host writes a ledger of its own, after the journal has taken a turn.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import small_project

from bench.host.containers import labels
from bench.host.containers.engine import Engine

ROOT = Path(__file__).resolve().parents[2]
#: A host that also writes each turn to a ledger, once the journal has it.
HOST = """
import json, os, sys
from pathlib import Path
from bench.host.__main__ import main
from bench.host.storage.journal import Journal
ledger = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(ledger, b"\\n")  # the host before may have been killed in the midst of a line
turn = Journal.turn
def noted(self, cell, number, attempt, samples):
    turn(self, cell, number, attempt, samples)
    line = json.dumps([cell, number, attempt, samples["sample_turn"], samples["sample_ns"]])
    os.write(ledger, line.encode() + b"\\n")
Journal.turn = noted
folder = sys.argv[1]
sys.exit(main(["run", "--matrix", folder + "/matrix.toml"], root=Path(folder)))
"""


class Attack:
    """One study that is killed again and again, and continued."""

    def __init__(self, folder: Path, study: str, source: random.Random, engine: Engine | None) -> None:
        (folder / "matrix.toml").write_text(study)
        self.folder, self.results = folder, folder / "reports" / "small"
        self.ledger = folder / "ledger"
        self.source = source
        self.engine = engine
        self.killed: Counter[str] = Counter()

    def host(self) -> subprocess.Popen[bytes]:
        with (self.folder / "output").open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-c", HOST, str(self.folder), str(self.ledger)],
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def go(self, kills: int) -> int:
        """Start the run, and kill until it is over or ``kills`` were made; return how many were."""
        host = self.host()
        made = 0
        while made < kills and self.wait_for_turns(host, self.source.randrange(1, 6)):
            time.sleep(self.source.random() * 0.1)
            target = self.source.choice(["host", "group", "worker", "worker"])
            if target == "worker":
                workers = self.workers()
                if not workers:
                    continue
                worker = self.source.choice(workers)
                try:
                    target = kind(worker)
                    os.kill(worker, signal.SIGKILL)
                except (FileNotFoundError, ProcessLookupError):
                    continue  # it has just ended
            else:
                os.killpg(host.pid, signal.SIGKILL) if target == "group" else host.kill()
                host.wait()
            self.killed[target] += 1
            made += 1
            if host.poll() is not None:
                self.nothing_is_left()
                host = self.host()
        assert host.wait(300) in (0, 1), (self.folder / "output").read_text()[-2000:]
        assert self.containers() == []
        return made

    def wait_for_turns(self, host: subprocess.Popen[bytes], turns: int) -> bool:
        """Wait until the host has taken some turns; return False when it is over."""
        before = len(self.turns())
        deadline = time.monotonic() + 120
        while len(self.turns()) < before + turns:
            if host.poll() is not None:
                return False
            assert time.monotonic() < deadline, "no turn was taken"
            time.sleep(0.01)
        return True

    def turns(self) -> list[list[object]]:
        if not self.ledger.exists():
            return []
        # A host may be about to write the last line, or have been killed meanwhile.
        return [json.loads(line) for line in self.ledger.read_text().splitlines() if line.endswith("]]")]

    def workers(self) -> list[int]:
        """List the processes of workers and of their parents."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                is_worker = "bench.worker" in (path / "cmdline").read_text()
                if is_worker and os.readlink(path / "cwd").startswith(str(self.folder)):
                    found.append(int(path.name))
            except OSError:
                continue
        return found

    def containers(self, *states: str) -> list[str]:
        """List the containers of this study, in any of these states if any are given."""
        if self.engine is None:
            return []
        chosen = {"label": labels.selector(labels.CONTAINER, self.folder), "status": list(states)}
        return [each["Id"] for each in self.engine.api.containers(all=True, filters=chosen)]

    def nothing_is_left(self) -> None:
        """Wait for the end of what a killed host left; containers that were paused are frozen until a command comes."""
        small_project.wait_for(lambda: not self.containers("running"))
        self.killed["left paused"] += len(self.containers("paused"))
        if self.engine is not None:
            assert small_project.call(self.folder, "schema") == 0
            assert self.containers() == []
        small_project.wait_for(lambda: not self.workers())


def kind(process: int) -> str:
    """Name what a process of a worker is, and whether it runs in a container."""
    words, status = [(Path("/proc") / str(process) / name).read_text() for name in ("cmdline", "status")]
    if "init" in words.split("\0")[0]:
        return "container"
    parents, numbers = [re.search(rf"^{name}:(.*)", status, re.M)[1].split() for name in ("PPid", "NSpid")]
    above = (Path("/proc") / parents[0] / "cmdline").read_text()
    is_parent = "--parent" in words and (words not in above or "init" in above.split("\0")[0])
    return ("parent" if is_parent else "worker") + (" in a container" if len(numbers) > 1 else "")
