"""Attacks by kills at random moments: of the host, its process group, workers and their parents.

Every host writes a ledger of its own, after the journal has taken a turn. ``BENCHMATRIX_KILLS=100`` makes 100 kills;
``BENCHMATRIX_SEED`` chooses others.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import small_project

from bench.host.storage import journal
from bench.record import Record

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("BENCHMATRIX_KILLS", "4"))
SEED = int(os.environ.get("BENCHMATRIX_SEED", "1"))
STUDY = """
[study]
name = "small"
baseline = "here:eager"
default = ["here", "again"]
profile = "brief"
seed = 1
threads = 1
[environments.here]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager"]
[environments.again]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager"]
[workloads.gemm]
[profiles.brief]
peaks = false
workers = "{workers}"
rounds = 4
samples = {samples}
sample_seconds = 0.001
sizes = ["check"]
timeout_s = 60
"""
#: A host that also writes each turn to a ledger, once the journal has it.
HOST = """
import json, os, sys
from pathlib import Path
from bench.host.__main__ import main
from bench.host.storage.journal import Journal
ledger = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
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

    def __init__(self, folder: Path, workers: str, samples: int, source: random.Random) -> None:
        folder.mkdir(parents=True)
        (folder / "matrix.toml").write_text(STUDY.format(python=sys.executable, workers=workers, samples=samples))
        self.folder, self.results = folder, folder / "reports" / "small"
        self.ledger = folder / "ledger"
        self.source = source
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
            target = self.source.choice(["host", "host", "group", "worker"])
            if target == "worker":
                workers = self.workers()
                if not workers:
                    continue
                os.kill(self.source.choice(workers), signal.SIGKILL)
            else:
                os.killpg(host.pid, signal.SIGKILL) if target == "group" else host.kill()
                host.wait()
            self.killed[target] += 1
            made += 1
            if host.poll() is not None:
                self.no_worker_is_left()
                host = self.host()
        assert host.wait(300) in (0, 1), (self.folder / "output").read_text()[-2000:]
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
        return [json.loads(line) for line in self.ledger.read_text().splitlines()]

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

    def no_worker_is_left(self) -> None:
        deadline = time.monotonic() + 10
        while self.workers():
            assert time.monotonic() < deadline, "a worker outlived its host"
            time.sleep(0.01)


@pytest.mark.alone
@pytest.mark.parametrize("workers", ["forked", "own"])
def test_kills_at_random_moments_lose_no_turn_and_double_none(tmp_path, workers, capsys):
    source = random.Random(f"{SEED}/{workers}")
    left, number, totals = KILLS // 2, 0, Counter()
    while left > 0:
        number += 1
        attack = Attack(tmp_path / str(number), workers, 5 * min(20, left), source)
        left -= attack.go(left)
        totals.update(attack.killed)
        records = journal.read(attack.results)
        told = {(cell, n, attempt, *turn): ns for cell, n, attempt, turn, ns in attack.turns()}
        kept = {
            (record.cell.name, record.round, record.attempt, turn): [ns]
            for record in records
            for turn, ns in zip(record.sample_turn, record.sample_ns, strict=True)
        }
        lost = {key: ns for key, ns in told.items() if kept.get(key) != ns}
        assert lost == {}
        # A host that is killed between the two writes has the turn in its journal only.
        assert len(kept.keys() - told.keys()) <= attack.killed["host"] + attack.killed["group"]
        taken = Counter((cell, n, turn) for cell, n, _, turn in kept)
        assert [key for key, count in taken.items() if count > 1] == []
        totals["turns"] += len(kept)
        assert tables_of(attack.folder, attack.folder / "copy", records) == []
    with capsys.disabled():
        print(f"\n{workers}: {number} runs, {dict(totals)}, 0 lost, 0 doubled")


def tables_of(folder: Path, copy: Path, records: list[Record]) -> list[str]:
    """Write the same turns without an interruption; return the tables that differ from those of the killed run."""
    results = copy / "reports" / "small"
    results.mkdir(parents=True)
    (copy / "matrix.toml").write_text((folder / "matrix.toml").read_text())
    (results / "run.json").write_text((folder / "reports" / "small" / "run.json").read_text())
    book = journal.Journal(results)
    for record in records:
        book.append(record)
    names = ("table.md", "table.csv", "results.csv")
    assert small_project.call(folder, "report") == small_project.call(copy, "report")
    return [name for name in names if (results / name).read_bytes() != (folder / "reports/small" / name).read_bytes()]
