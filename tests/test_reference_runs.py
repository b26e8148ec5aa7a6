"""Tests the committed runs: every mode that a processor runs has a time, and none names a folder of a machine."""

from __future__ import annotations

import csv
import functools
import gzip
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.host.analysis.quality import Quality
from bench.host.study import study_file
from bench.host.study.schema import Study

ROOT = Path(__file__).parents[1]
#: It records CUDA graphs.
GPU_ONLY = "compile-reduce-overhead"
#: Modes that came with later versions: the tables say so.
LATER = {
    "torch-1.12.1": {"compile", "compile-step", "compile-optimizer", "compile-max-autotune", "aot-inductor"},
    "torch-2.0.1": {"compile-step", "compile-optimizer", "aot-inductor"},
}


@functools.cache
def load(name: str) -> Study:
    return study_file.load(ROOT / "studies" / f"{name}.toml")


@functools.cache
def statuses() -> dict[tuple[str, str], set[str]]:
    """Return the statuses that modes have in the committed tables; a disturbed time counts as none."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in sorted((ROOT / "reports" / "reference").rglob("results.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["quality"] != Quality.DISTURBED.value:
                    found.setdefault((row["environment"], row["mode"]), set()).add(row["status"])
    return found


def modes(*names: str) -> list[tuple[str, str]]:
    """List the modes of the environments that studies measure on a processor, without containers."""
    return [
        (environment, mode)
        for name in names
        for environment, table in load(name).environments.items()
        if environment in load(name).settings.default or name == "older-versions"
        for mode in table.modes
        if mode != GPU_ONLY
    ]


@pytest.mark.parametrize(("environment", "mode"), modes("full", "older-versions"))
def test_every_mode_that_a_processor_runs_has_a_time_in_a_committed_table(environment, mode):
    if mode in LATER.get(environment, ()):
        assert statuses()[environment, mode] <= {"excluded", "unsupported"}
    else:
        assert "ok" in statuses()[environment, mode]


@pytest.mark.parametrize("kind", ["environments.json", "run.json", "machine.json", "records.jsonl.gz", "table.md"])
def test_a_committed_run_names_no_folder_of_the_machine_it_was_made_on(kind):
    """A record's reason once had a folder, from a framework's warning."""
    files = sorted((ROOT / "reports" / "reference").rglob(kind))
    assert files
    unpacked = ((file, (gzip.decompress if kind.endswith(".gz") else bytes)(file.read_bytes())) for file in files)
    assert [str(file) for file, content in unpacked if re.search(rb"/(root|home|work)/", content)] == []


def test_the_readme_shows_the_screen_of_the_committed_run_of_the_default_study(tmp_path):
    committed = Path("reports", "reference", "default")
    folder = shutil.copytree(ROOT / committed, tmp_path / committed)
    command = (sys.executable, "-m", "bench.host", "report", str(folder))
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    screen = told.replace(f"{tmp_path}/", "").rstrip("\n")
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"<!-- screen: begin -->\n```\n{screen}\n```\n<!-- screen: end -->" in readme
