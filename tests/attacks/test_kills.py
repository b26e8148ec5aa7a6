"""Attacks by kills at random moments: of the host, its process group, workers, their parents and containers.

Every host writes a ledger of its own, after the journal has taken a turn. ``BENCHMATRIX_KILLS=100`` makes 100 kills;
``BENCHMATRIX_SEED`` chooses others.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
import small_project
from container_fixtures import *  # noqa: F403
from container_project import BASE, forget, make_project
from killing import ROOT, Attack

from bench.host.environments import locks
from bench.host.environments.locks import LockRequest
from bench.host.storage import journal
from bench.record import Record

KILLS = int(os.environ.get("BENCHMATRIX_KILLS", "4"))
SEED = int(os.environ.get("BENCHMATRIX_SEED", "1"))
STUDY = """
[study]
name = "small"
baseline = "here:eager"
default = ["here", "{other}"]
profile = "brief"
seed = 1
threads = 1
[environments.here]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager"]
[environments.{other}]
{provider}
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
PROCESS = f"""
provider = "existing"
interpreter = "{sys.executable}"
"""
CONTAINER = f"""
provider = "container"
python = "3.11"
requirements = ["{{numpy}}"]
base = "{BASE}"
"""
CONTAINERS = pytest.param("containers", marks=pytest.mark.engine)


@pytest.fixture(scope="module", params=["processes", CONTAINERS])
def place(request):
    """Return the engine, the second environment of the study, and a function that makes a folder for the study."""
    if request.param == "processes":
        yield None, {"other": "again", "provider": PROCESS}, lambda folder: folder.mkdir() or folder
        return
    engine, made = request.getfixturevalue("engine"), []
    locked = re.search(r"^(numpy==\S+).*?(?=^\S)", (ROOT / "locks" / "jax.txt").read_text(), re.M | re.S)
    # The name is part of the image's: no other session of tests may remove this image.
    name = f"box-{os.getpid()}"

    def make(folder: Path) -> Path:
        made.append(make_project(folder))
        locks.write(LockRequest(name, "3.11", (locked[1],)), locked[0].rstrip(), root=folder)
        return folder

    yield engine, {"other": name, "provider": CONTAINER.format(numpy=locked[1])}, make
    for folder in made:
        forget(engine, folder)


@pytest.mark.long
@pytest.mark.parametrize("workers", ["forked", "own"])
def test_kills_at_random_moments_lose_no_turn_and_double_none(tmp_path, workers, place, request, capsys):
    engine, environment, make = place
    source = random.Random(f"{SEED}/{workers}")
    left, number, totals = KILLS // 2, 0, Counter()
    while left > 0:
        number += 1
        values = {"python": sys.executable, "workers": workers, "samples": 5 * min(20, left), **environment}
        attack = Attack(make(tmp_path / str(number)), STUDY.format(**values), source, engine)
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
        print(f"\n{request.node.callspec.id}: {number} runs, {dict(totals)}, 0 lost, 0 doubled")


def tables_of(folder: Path, copy: Path, records: list[Record]) -> list[str]:
    """Write the same turns without an interruption; return the tables that differ from those of the killed run."""
    results = copy / "reports" / "small"
    results.mkdir(parents=True)
    (copy / "matrix.toml").write_text((folder / "matrix.toml").read_text())
    (results / "run.json").write_text((folder / "reports" / "small" / "run.json").read_text())
    book = journal.Journal(results)
    for record in records:
        book.append(record)
    names = ("table.md", "details.csv", "results.csv")
    assert small_project.call(folder, "report") == small_project.call(copy, "report")
    return [name for name in names if (results / name).read_bytes() != (folder / "reports/small" / name).read_bytes()]
