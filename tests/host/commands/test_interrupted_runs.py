"""Tests that runs which are killed, interrupted or begun twice lose nothing and mix nothing."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
from pathlib import Path

import pytest
import small_project
from small_project import call, text_of, wait_for

from bench.host.storage import journal, manifest

spawn = functools.partial(small_project.spawn, errors=subprocess.STDOUT)


def worker_commands() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if "bench.worker" in (path / "cmdline").read_text():
                found.append(os.readlink(path / "cwd"))
        except OSError:
            continue
    return found


@pytest.mark.long
def test_a_killed_run_continues_and_loses_no_turn(checkout):
    folder = checkout / "reports" / "small"
    run = spawn(checkout, "run", "--profile", "long", "--workload", "mlp-train")
    unfinished = folder / journal.UNFINISHED
    wait_for(lambda: text_of(unfinished).count('"turn"') >= 6)
    run.kill()
    run.communicate()
    before = journal.read(folder)
    kept = sum(len(record.sample_ns) for record in before)
    assert kept >= 6
    again = spawn(checkout, "run", "--profile", "long", "--workload", "mlp-train")
    output, _ = again.communicate(timeout=120)
    assert again.returncode == 0, output
    assert "Continuing the run of" in output
    described = manifest.read(folder)
    assert described is not None
    assert described.finished
    assert described.recorded_lines == len((folder / journal.RECORDS).read_bytes().splitlines())
    records = journal.read(folder)
    planned = [turn for record in records for turn in record.sample_turn if turn < 12]
    assert len(planned) == 2 * 3 * 12
    samples = [sample for record in records for sample in record.sample_ns]
    assert all(sample in samples for record in before for sample in record.sample_ns)


def test_ctrl_c_leaves_a_partial_table_no_worker_and_its_own_exit_code(checkout):
    folder = checkout / "reports" / "small"
    run = spawn(checkout, "run", "--profile", "long")
    wait_for(lambda: (folder / journal.RECORDS).exists() and (folder / journal.UNFINISHED).exists())
    os.killpg(run.pid, signal.SIGINT)
    output, _ = run.communicate(timeout=120)
    assert run.returncode == 130, output
    assert "the same command continues" in output
    assert (folder / "table.md").exists()
    described = manifest.read(folder)
    assert described is not None
    assert described.finished is False
    assert not any(str(checkout) in command for command in worker_commands())


@pytest.mark.long
def test_two_runs_at_once_are_refused_and_not_mixed(checkout, capsys):
    run = spawn(checkout, "run", "--profile", "long")
    wait_for(lambda: (checkout / "reports" / "small" / manifest.RUN).exists())
    assert call(checkout, "run") == 2
    assert f"another run is under way in this project (process {run.pid})" in capsys.readouterr().err
    os.killpg(run.pid, signal.SIGINT)
    run.communicate(timeout=120)


@pytest.mark.long
def test_another_selection_does_not_mix_with_an_unfinished_run(checkout, capsys):
    folder = checkout / "reports" / "small"
    run = spawn(checkout, "run", "--profile", "long")
    wait_for(lambda: (folder / journal.UNFINISHED).exists())
    run.kill()
    run.communicate()
    assert call(checkout, "run", "--workload", "gemm") == 0
    assert {record.cell.workload for record in journal.read(folder)} == {"gemm"}
    assert len(list((folder / "history").iterdir())) == 1


@pytest.mark.long
def test_fresh_starts_over(checkout, capsys):
    folder = checkout / "reports" / "small"
    run = spawn(checkout, "run", "--workload", "gemm", "--profile", "long")
    wait_for(lambda: (folder / journal.UNFINISHED).exists())
    run.kill()
    run.communicate()
    assert call(checkout, "run", "--workload", "gemm", "--profile", "long", "--fresh") == 0
    assert "Continuing" not in capsys.readouterr().out
    assert {record.attempt for record in journal.read(folder)} == {1}
