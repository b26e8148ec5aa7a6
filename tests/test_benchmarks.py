"""Tests that the benchmarks of the harness can be started: a name that has gone from the host would else go unseen."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.host.analysis.run_analysis import judged, undecided_cells
from bench.host.measuring.stopping import Stops
from bench.host.storage.manifest import Manifest
from bench.record import Record

ROOT = Path(__file__).resolve().parents[1]
#: In a process of its own, which the modules of benchmarks leave with it.
PROGRAM = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module("benchmarks." + name)
    except ImportError as error:
        print(name, error)
"""


def test_every_benchmark_can_be_imported():
    names = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if not path.stem.startswith("_"))
    assert len(names) > 10
    said = subprocess.run([sys.executable, "-c", PROGRAM, *names], cwd=ROOT, check=True, capture_output=True, text=True)
    assert said.stdout == ""


def test_simulated_tables_stop_and_are_judged_as_runs_are():
    """Each drawn pair becomes two records; a run of these must have the verdicts and the rounds of the simulation."""
    sys.path.insert(0, str(ROOT))
    from benchmarks import stopping_rules

    kind = stopping_rules.Kind("", ((1, 1, 2, 1.03, 0.011), (1, 0, 2, 1.008, 0.003)))
    table = stopping_rules.draw(np.random.default_rng(3), kind)
    verdicts, rounds = stopping_rules.measure(table)
    assert len(set(verdicts.values())) > 1
    assert len(set(rounds.values())) > 1
    bases = {cell.row: replace(cell, environment="base") for cell in table}
    manifest = Manifest.from_json({"study": {"baseline": "base:eager"}, "looks": list(stopping_rules.LOOKS)})
    stops = Stops(list(bases), stopping_rules.LOOKS, lambda made, _: undecided_cells(made, manifest, stops.goes_on))
    records: list[Record] = []
    for number in range(stopping_rules.LOOKS[-1]):
        stops.look(number, records)
        for cell in [*bases.values(), *table]:
            if cell.row not in stops.made and stops.goes_on(cell):
                ns = int(1e9 * math.exp(table[cell][1][number] if cell in table else 0.0))
                records.append(Record(cell, number, 1, "ok", sample_ns=[ns] * 6, sample_steps=[10] * 6,
                                      sample_turn=list(range(6))))  # fmt: skip
    stops.look(stopping_rules.LOOKS[-1], records)
    found = {one.cell: one for one in judged(records, replace(manifest, stopped=stops.made))[0] if one.cell in table}
    assert {cell: one.verdict for cell, one in found.items()} == verdicts
    assert {cell: one.ratio.estimate.n for cell, one in found.items()} == rounds
