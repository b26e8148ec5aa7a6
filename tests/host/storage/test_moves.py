"""Tests that a run is whole and in one folder after a command that was killed at any step of a move."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from trainings import FACTS

from bench.cell import Cell
from bench.host import commands
from bench.host.measuring import run_start
from bench.host.measuring.run_start import RunStart
from bench.host.refusal import Refused
from bench.host.storage import archive, journal, manifest, moves, training_records
from bench.host.storage.manifest import Manifest
from bench.host.storage.run_lock import exclusive
from bench.record import Record

CELL = Cell("torch2", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
FILES = ("records.jsonl", "report.html", "table.md", "logs")


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


def write(folder: Path, run: str) -> None:
    """Write the files of a run, each with the name of the run; they need no description."""
    (folder / "logs").mkdir(parents=True)
    for name in ("records.jsonl", "report.html", "table.md", "logs/a.log"):
        (folder / name).write_text(run)


def runs(study: Path) -> dict[str, Path]:
    """Return the folder of each run; every run is whole, and in that folder only."""
    found = {}
    for folder in (study, *sorted((study / archive.HISTORY).glob("*"))):
        files = {path.name for path in archive.files_of(folder)}
        assert files in (set(), set(FILES)), folder
        if files:
            (run,) = {path.read_text() for path in folder.glob("*.*")} | {(folder / "logs" / "a.log").read_text()}
            assert run not in found
            found[run] = folder
    return found


def killed_at(step: int, move: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Kill ``move`` before its step of this number; return False where it has fewer."""
    steps = itertools.count()

    def counted(real: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
        def moved(source: Path, target: Path) -> None:
            if next(steps) == step:
                raise Killed
            real(source, target)

        return moved

    with monkeypatch.context() as patch:
        for name in ("replace", "rename"):
            patch.setattr(os, name, counted(getattr(os, name)))
        try:
            move()
        except Killed:
            return True
    return False


def test_a_run_is_whole_after_a_kill_at_any_step_of_its_move_to_the_history(tmp_path, monkeypatch):
    for step in itertools.count():
        root = tmp_path / str(step)
        study = root / "reports" / "default"
        write(study, "first")
        killed = killed_at(step, lambda study=study: archive.archive(study), monkeypatch)
        commands.tidy(root)
        assert list(runs(study)) == ["first"]
        assert (runs(study)["first"] == study) == killed
        if not killed:
            break
    assert step == len(FILES) + 1


def test_two_runs_are_whole_after_a_kill_at_any_step_of_their_exchange(tmp_path, monkeypatch):
    for step in itertools.count():
        root = tmp_path / str(step)
        study = root / "reports" / "default"
        write(study, "good")
        good = archive.archive(study)
        write(study, "failed")
        killed = killed_at(step, lambda study=study, good=good: archive.put_back(study, good), monkeypatch)
        commands.tidy(root)
        assert sorted(runs(study)) == ["failed", "good"]
        if not killed:
            break
    assert step == 2 * (len(FILES) + 1)
    assert runs(study)["good"] == study


def test_the_next_move_finds_what_a_killed_one_left(tmp_path, monkeypatch):
    write(tmp_path, "first")
    assert killed_at(2, lambda: archive.archive(tmp_path), monkeypatch)
    assert archive.archive(tmp_path) == runs(tmp_path)["first"]


def test_trainings_are_whole_after_a_kill(tmp_path, monkeypatch):
    folder = training_records.folder_of(tmp_path, "default")
    folder.mkdir(parents=True)
    for name in ("report.html", training_records.FILE):
        (folder / name).touch()
    assert killed_at(1, lambda: training_records._archive(folder, "2026"), monkeypatch)
    assert len(list(archive.files_of(folder))) == 1
    commands.tidy(tmp_path)
    assert len(list(archive.files_of(folder))) == 2


def test_a_training_that_a_killed_command_was_moving_is_back_before_another_begins(tmp_path):
    """A command that looked while the other one still moved it has left it there."""
    training_records.begin(tmp_path, FACTS, fresh=False)
    (tmp_path / moves.MOVING).mkdir()
    os.rename(tmp_path / training_records.FILE, tmp_path / moves.MOVING / training_records.FILE)
    training_records.begin(tmp_path, FACTS.model_copy(update={"identity": "other"}), fresh=False)
    assert not (tmp_path / moves.MOVING).exists()
    assert len(list((tmp_path / archive.HISTORY).glob(f"*/{training_records.FILE}"))) == 1


def test_a_run_that_a_killed_command_was_moving_is_back_before_it_is_continued(tmp_path, monkeypatch):
    said: list[str] = []
    plan: Any = SimpleNamespace(baseline="a:eager", ratios="baseline", budget_s=None, strict=False)
    study: Any = None
    monkeypatch.setattr(run_start, "identity", lambda *about: "abcdef")
    start = RunStart(tmp_path, tmp_path / "default", study, plan, {}, said.append, {})
    manifest.write(start.folder, Manifest(run="first", identity="abcdef", finished=False))
    journal.Journal(start.folder).append(Record(CELL, round=0, attempt=1, status="ok"))
    (start.folder / moves.MOVING).mkdir()
    os.rename(start.folder / journal.RECORDS, start.folder / moves.MOVING / journal.RECORDS)
    assert start.open(fresh=False, forget=print)[0].run == "first"
    assert "(1 process recorded;" in said[0]


def test_a_run_stays_where_it_is_if_the_next_one_cannot_be_described(tmp_path, monkeypatch):
    """On a full disk the results were moved to the history, and nothing took their place."""
    plan: Any = SimpleNamespace(baseline="a:eager", ratios="baseline", budget_s=None, strict=False)
    study: Any = None
    monkeypatch.setattr(run_start, "identity", lambda *about: "abcdef")
    monkeypatch.setattr(RunStart, "_begin", lambda *about: Manifest(run="second", identity="abcdef"))
    start = RunStart(tmp_path, tmp_path / "default", study, plan, {}, print, {})
    manifest.write(start.folder, Manifest(run="first", identity="another"))
    journal.Journal(start.folder).append(Record(CELL, round=0, attempt=1, status="ok"))
    before = {path.name: path.read_bytes() for path in archive.files_of(start.folder)}

    def full(folder: Path, described: Manifest) -> None:
        raise Refused(f"{folder}: cannot be used: No space left on device.")

    monkeypatch.setattr(manifest, "write", full)
    with pytest.raises(Refused, match="No space left"):
        start.open(fresh=False, forget=lambda run: pytest.fail("its caches were dropped"))
    assert {path.name: path.read_bytes() for path in archive.files_of(start.folder)} == before


def test_what_a_command_moves_just_now_is_left_to_it(tmp_path, monkeypatch):
    study = tmp_path / "reports" / "default"
    write(study, "first")
    assert killed_at(2, lambda: archive.archive(study), monkeypatch)
    with exclusive(tmp_path):
        commands.tidy(tmp_path)
        assert moves.unfinished(tmp_path) == [study]
    commands.tidy(tmp_path)
    assert moves.unfinished(tmp_path) == []


def test_a_run_that_cannot_be_moved_back_is_told_of_once(tmp_path, monkeypatch, capsys):
    study = tmp_path / "reports" / "default"
    write(study, "first")
    assert killed_at(2, lambda: archive.archive(study), monkeypatch)

    def refuse(source: Path, target: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(source))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        commands.tidy(tmp_path)
        said = capsys.readouterr().err
        commands.tidy(tmp_path, warn=False)
    assert said.startswith(
        f"{study / moves.MOVING} has files of a run that a killed command was moving. Not moved back: "
    )
    assert said.endswith(": cannot be used: Read-only file system. Make it writable, or run in another folder.\n")
    assert not capsys.readouterr().err
    commands.tidy(tmp_path)
    assert runs(study) == {"first": study}


def test_a_history_on_another_file_system_is_refused_and_the_run_stays(tmp_path, monkeypatch):
    study = tmp_path / "default"
    write(study, "first")

    def refuse(source: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source), None, str(target))

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(Refused, match=r"history is on another file system than .*default; runs move within one. Put "):
        archive.archive(study)
    assert runs(study) == {"first": study}


def test_files_of_trials_and_of_bisected_pairs_are_found(tmp_path):
    places = [tmp_path / "reports" / "default" / place for place in ("trial", "training", "bisect/torch-eager/a-vs-b")]
    for place in places:
        (place / moves.MOVING).mkdir(parents=True)
    assert sorted(moves.unfinished(tmp_path)) == sorted(places)


def test_a_kill_before_the_first_file_hinders_no_later_move(tmp_path):
    write(tmp_path, "first")
    (tmp_path / moves.MOVING).mkdir()
    assert archive.archive(tmp_path) == runs(tmp_path)["first"]
