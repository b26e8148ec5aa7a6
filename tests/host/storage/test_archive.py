"""Tests that no run is lost: earlier runs are moved whole, kept ones stay, and only a named one can be removed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bench.cell import Cell
from bench.host.refusal import Refused
from bench.host.setup.staging import write_whole
from bench.host.storage import archive, journal, manifest, moves, stored_runs
from bench.host.storage.manifest import RUN, Manifest
from bench.record import FAILED, Record

CELL = Cell("torch2", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)


def record(number: int = 0, **values) -> Record:
    return Record(cell=CELL, round=number, attempt=1, status="ok", **values)


def stored(folder: Path, day: int, **values) -> Path:
    """Write a run that began on a day of November."""
    journal.Journal(folder).append(record())
    name = values.pop("run", f"202611{day:02d}-101112-abcdef")
    manifest.write(folder, Manifest(run=name, started=f"2026-11-{day:02d} 10:11:12", **values))
    return folder


def test_an_earlier_run_is_archived_whole(tmp_path):
    folder = tmp_path / "default"
    journal.Journal(folder).append(record())
    write_whole(folder / RUN, json.dumps({"run": "../../evil", "finished": True}))
    (folder / "logs").mkdir()
    (folder / "logs" / "a.log").write_text("x")
    expected = archive.destination(folder)
    target = archive.archive(folder)
    assert target == expected == folder / "history" / "------evil"
    assert sorted(path.name for path in folder.iterdir()) == ["history"]
    assert journal.read(target) == [record()]
    assert (target / "logs" / "a.log").read_text() == "x"


@pytest.mark.parametrize("name", [archive.TRAINING, moves.BISECTIONS])
def test_what_is_no_part_of_a_run_stays_where_it_is_when_that_is_archived(tmp_path, name):
    folder = stored(tmp_path / "default", 20)
    (folder / name).mkdir()
    archived = archive.archive(folder)
    assert archived is not None
    assert (folder / name).is_dir()
    assert not (archived / name).exists()


def test_trials_stay_where_they_are_when_a_run_is_archived(tmp_path):
    folder = tmp_path / "default"
    journal.Journal(folder).append(record())
    journal.Journal(folder / "trial").append(record())
    archive.archive(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["history", "trial"]


def test_an_archived_run_is_put_back_whole(tmp_path):
    folder = tmp_path / "default"
    journal.Journal(folder).append(record())
    good = archive.archive(folder)
    assert good is not None
    failed = replace(record(), status=FAILED, stage="start", reason="boom")
    journal.Journal(folder).append(failed)
    target = archive.put_back(folder, good)
    assert target is not None
    assert journal.read(folder) == [record()]
    assert journal.read(target) == [failed]
    assert not good.exists() or good == target


def test_there_is_nothing_to_archive_in_a_new_folder(tmp_path):
    assert archive.archive(tmp_path / "absent") is None
    assert archive.destination(tmp_path / "absent") is None


def test_runs_of_the_same_name_get_folders_of_their_own(tmp_path):
    places = []
    for _ in range(3):
        stored(tmp_path, 1)
        places.append(archive.archive(tmp_path))
    assert len(set(places)) == 3
    assert len(stored_runs.stored_runs(tmp_path)) == 3


def test_a_kept_run_is_moved_by_nobody(tmp_path):
    stored(tmp_path, 1, label="paper", kept=True)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for move in (archive.archive, archive.destination, lambda folder: archive.put_back(folder, tmp_path / "other")):
        with pytest.raises(archive.RunIsKept, match=r"'paper', which is kept there.* --release 20261101-101112-abcdef"):
            move(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_runs_are_listed_from_the_newest_on_with_earlier_ones_and_trials(tmp_path):
    stored(tmp_path, 1)
    archive.archive(tmp_path)
    stored(tmp_path, 3)
    stored(tmp_path / "trial", 2)
    runs = stored_runs.stored_runs(tmp_path)
    assert [run.manifest.started[8:10] for run in runs] == ["03", "02", "01"]
    assert [run.folder.relative_to(tmp_path).parts for run in runs] == [
        (),
        ("trial",),
        ("history", "20261101-101112-abcdef"),
    ]


def test_a_run_is_found_by_its_name_its_id_or_the_beginning_of_it(tmp_path):
    for day, label in ((1, "paper"), (2, "paper"), (13, "")):
        stored(tmp_path, day, label=label)
        archive.archive(tmp_path)
    assert stored_runs.find(tmp_path, "paper").manifest.started[8:10] == "02"
    assert stored_runs.find(tmp_path, "20261101-101112-abcdef").manifest.started[8:10] == "01"
    assert stored_runs.find(tmp_path, "2026111").manifest.started[8:10] == "13"
    with pytest.raises(Refused, match="begins the names of several runs: 20261102-101112-abcdef, 20261101"):
        stored_runs.find(tmp_path, "2026110")
    for name in ("papre", "", "../history"):
        with pytest.raises(Refused, match=r"unknown run .*nox -s runs"):
            stored_runs.find(tmp_path, name)


def test_a_name_is_changed_and_what_another_version_wrote_stays(tmp_path):
    stored(tmp_path, 1)
    path = tmp_path / RUN
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "added_later": [1]}))
    (run,) = stored_runs.stored_runs(tmp_path)
    changed = stored_runs.change(stored_runs.change(run, label="paper"), kept=True)
    assert (changed.manifest.label, changed.manifest.kept) == ("paper", True)
    assert json.loads(path.read_bytes())["added_later"] == [1]
    assert stored_runs.change(changed, label="").manifest.kept
    assert replace(changed.manifest, label="", kept=False) == run.manifest


@pytest.mark.parametrize("content", ["{", '{"schema": 99}', "[]", '{"label": 7}', '{"kept": "no"}'])
def test_a_damaged_description_hides_no_run_and_is_not_changed(tmp_path, content):
    stored(tmp_path, 1)
    archive.archive(tmp_path)
    stored(tmp_path, 2)
    (tmp_path / RUN).write_text(content)
    runs = stored_runs.stored_runs(tmp_path)
    assert len(runs) == 2
    damaged = next(run for run in runs if run.problem)
    with pytest.raises(Refused, match="cannot be changed"):
        stored_runs.change(damaged, label="paper")
    assert (tmp_path / RUN).read_text() == content


def test_removing_a_run_leaves_its_neighbours_and_what_links_lead_to(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    study = tmp_path / "reports" / "default"
    stored(study, 1)
    archive.archive(study)
    stored(study, 2)
    stored(study / "trial", 3)
    (study / "logs").mkdir()
    (study / "logs" / "out").symlink_to(precious)
    (study / "figures").symlink_to(precious)
    assert stored_runs.remove(stored_runs.find(study, "20261102")) > 0
    assert [run.manifest.started[8:10] for run in stored_runs.stored_runs(study)] == ["03", "01"]
    assert sorted(path.name for path in study.iterdir()) == ["history", "trial"]
    stored_runs.remove(stored_runs.find(study, "20261101"))
    assert list((study / "history").iterdir()) == []
    assert (precious / "file").read_text() == "x"


def test_removing_a_run_leaves_bisections_that_an_earlier_version_moved_with_it(tmp_path):
    stored(tmp_path, 1)
    archived = archive.archive(tmp_path)
    assert archived is not None
    (archived / moves.BISECTIONS / "torch-eager").mkdir(parents=True)
    assert stored_runs.remove(stored_runs.find(tmp_path, "20261101")) > 0
    assert [path.name for path in archived.iterdir()] == [moves.BISECTIONS]
    assert stored_runs.stored_runs(tmp_path) == []


def test_a_kept_run_is_not_removed(tmp_path):
    stored(tmp_path, 1)
    archive.archive(tmp_path)
    run = stored_runs.change(stored_runs.find(tmp_path, "20261101"), kept=True)
    with pytest.raises(Refused, match=r"is kept\. To remove it, release it first"):
        stored_runs.remove(run)
    assert journal.read(run.folder) == [record()]
    assert stored_runs.remove(stored_runs.change(run, kept=False)) > 0
    assert not run.folder.exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("defalt", r"/defalt holds no run; did you mean \S+/default\?"),
        ("", r" holds no run, but folders in it do: default, older\."),
        ("empty", r"/empty holds no run\."),
        ("nothing/like/it", r"/nothing/like/it holds no run\."),
    ],
)
def test_a_folder_without_a_run_names_the_one_that_may_be_meant(tmp_path, name, said):
    for number, folder in enumerate(("older", "default")):
        stored(tmp_path / folder, 1 + number)
    (tmp_path / "empty").mkdir()
    assert re.fullmatch(r"\S+" + said, stored_runs.no_run(tmp_path / name))


def test_of_many_folders_with_runs_few_are_named(tmp_path):
    for number in range(7):
        stored(tmp_path / f"run{number}", 1)
    assert stored_runs.no_run(tmp_path).endswith("do: run0, run1, run2, run3, run4, … (2 more).")
