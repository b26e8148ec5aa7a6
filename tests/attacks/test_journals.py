"""Attacks through the files of a run: damaged, edited, truncated, of another kind. No traceback, and nothing unseen."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from bench.cell import Cell
from bench.host.refusal import Refused
from bench.host.reporting import report
from bench.host.storage import journal, lines, manifest
from bench.host.storage.journal import RECORDS, UNFINISHED
from bench.host.storage.manifest import RUN, Manifest
from bench.record import Record

pytestmark = pytest.mark.long

RUNS = Path(__file__).resolve().parents[1] / "host" / "storage" / "runs"
CELL = Cell("torch2", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
#: Damaged files of a run that are read and reported, in each of several tests.
FUZZED, PARTS = 500, 10
#: A file that takes as many seconds of the processor hangs.
HANG_S = 5.0
JUNK: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 7, 1 << 40, 1 << 70, 10**400, 0.5, -0.5, 1e300, float("nan"), float("inf"),
    "", "x", "\x1b[2J", "\u202eevil", "\ud800", "=cmd()", "x" * 5000, [], [1], [None], {}, {"a": 1}, {"": {}}, [[[]]],
)  # fmt: skip


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the places of all values inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places_of(one, (*path, key)))]


def damage(value: Any, source: random.Random) -> Any:
    """Change, remove, repeat or add one value inside a value."""
    # The lists of samples would take most of the tries.
    everywhere = places_of(value)[1:]
    by_kind = source.choice(
        [[place for place in everywhere if len(place) == depth] or everywhere for depth in (1, 2, 3)]
    )
    *parents, last = source.choice(by_kind)
    table = value
    for key in parents:
        table = table[key]
    match source.randrange(4):
        case 0:
            del table[last]
        case 1 if isinstance(table, list):
            table.append(source.choice(JUNK))
        case 2 if isinstance(table, dict):
            table[source.choice(("x", "", "a/b/c", "-1", "\x1b", "x" * 600, "schema"))] = table[last]
        case _:
            table[last] = source.choice(JUNK)
    return value


def with_damaged_bytes(content: bytes, source: random.Random) -> bytes:
    changed = bytearray(content)
    match source.randrange(4):
        case 0:
            return bytes(changed[: source.randrange(len(changed))])
        case 1:
            changed[source.randrange(len(changed))] = source.randrange(256)
        case 2:
            at = source.randrange(len(changed))
            changed[at : at + source.randrange(2000)] = b""
        case 3:
            at = source.randrange(len(changed))
            changed[at:at] = source.choice((b"\0" * 50, b"[" * 5000, b"\xff\xfe", b"9" * 6000, b"\n\n{}\n[]\n"))
    return bytes(changed)


def copy_run(name: str, folder: Path) -> None:
    """Copy a stored run with a few of its records: enough to be analysed, and quick."""
    shutil.copytree(RUNS / name, folder)
    given = (folder / RECORDS).read_text().splitlines(keepends=True)
    (folder / RECORDS).write_text("".join(given[:: max(1, len(given) // 12)]))


def break_run(folder: Path, source: random.Random) -> str:
    """Damage one file of the run in ``folder``; return its name."""
    name = source.choice((RUN, RECORDS, RECORDS))
    path = folder / name
    if source.random() < 0.3:
        path.write_bytes(with_damaged_bytes(path.read_bytes(), source))
    elif name == RUN:
        path.write_text(json.dumps(damage(json.loads(path.read_text()), source)))
    else:
        given = path.read_text().splitlines()
        for _ in range(source.randrange(1, 4)):
            number = source.randrange(len(given))
            given[number] = json.dumps(damage(json.loads(given[number]), source))
        path.write_text("\n".join(given) + "\n")
    return name


@pytest.mark.parametrize("part", range(PARTS))
def test_a_damaged_run_is_reported_or_refused_with_its_place(tmp_path, part):
    source = random.Random(part)
    for number in range(FUZZED // PARTS):
        folder = tmp_path / str(number)
        copy_run(source.choice(("schema-1", "schema-2")), folder)
        name = break_run(folder, source)
        began = time.process_time()
        damaged: list[str] = []
        refusals: list[str] = []
        found: Manifest | None = None
        records: list[Record] = []
        try:
            found = manifest.read(folder, refusals)
            records = journal.read(folder, damaged)
        except Refused as error:
            refusals.append(str(error))
        if found is None:
            assert refusals, "a file that cannot be read says why"
        else:
            # Everything that was let through can be analysed and put into words.
            made = report.make(records, dataclasses.replace(found, damaged=tuple(damaged)))
            if damaged:
                assert f"{RECORDS}:" in made.summary.caption
        assert time.process_time() - began < HANG_S
        assert all(line.startswith(f"{RECORDS}:") for line in damaged)
        assert name == RECORDS or not damaged
        shutil.rmtree(folder)


def written(folder: Path) -> list[Record]:
    """Write a journal of three records with samples."""
    book = journal.Journal(folder)
    made = [
        Record(CELL, number, 1, "ok", sample_steps=[4], sample_ns=[1000], sample_cpu_ns=[900], sample_turn=[0])
        for number in range(3)
    ]
    for record in made:
        book.append(record)
    return made


def test_halved_samples_are_seen_and_left_out(tmp_path):
    made = written(tmp_path)
    path = tmp_path / RECORDS
    path.write_text(path.read_text().replace('"sample_ns": [1000]', '"sample_ns": [500]', 1))
    damaged: list[str] = []
    assert journal.read(tmp_path, damaged) == made[1:]
    assert damaged == [f"{RECORDS}:1: the line was changed after it was written"]


@pytest.mark.parametrize("seed", range(5))
def test_no_changed_byte_of_a_record_is_unseen(tmp_path, seed):
    made = written(tmp_path)
    path = tmp_path / RECORDS
    whole = path.read_bytes()
    source = random.Random(seed)
    for _ in range(100):
        at = source.randrange(len(whole))
        changed = source.choice([byte for byte in range(256) if byte != whole[at]])
        path.write_bytes(whole[:at] + bytes([changed]) + whole[at + 1 :])
        damaged: list[str] = []
        found = journal.read(tmp_path, damaged)
        assert all(record in made for record in found)
        assert len(found) == 3 or damaged


def test_a_line_that_lost_its_checksum_is_damaged_and_a_file_of_an_earlier_version_is_not(tmp_path):
    made = written(tmp_path)
    path = tmp_path / RECORDS
    given = path.read_text().splitlines()
    given[2] = json.dumps({**made[2].to_json(), "sample_ns": [1]})
    path.write_text("\n".join(given) + "\n")
    damaged: list[str] = []
    assert journal.read(tmp_path, damaged) == made[:2]
    assert damaged == [f"{RECORDS}:3: the line has no checksum"]
    path.write_text("".join(json.dumps(record.to_json()) + "\n" for record in made))
    journal.Journal(tmp_path).append(dataclasses.replace(made[0], attempt=2))
    assert len(journal.read(tmp_path)) == 4


def test_notes_about_turns_are_protected_too(tmp_path):
    book = journal.Journal(tmp_path)
    book.begin(Record(CELL, 0, 1, "ok"))
    for turn in range(3):
        taken = {"sample_steps": [4], "sample_ns": [1000], "sample_cpu_ns": [900], "sample_turn": [turn]}
        book.turn(CELL.name, 0, 1, taken)
    path = tmp_path / UNFINISHED
    path.write_text(path.read_text().replace("[1000]", "[500]", 1))
    damaged: list[str] = []
    (record,) = journal.read(tmp_path, damaged)
    assert (record.sample_ns, record.sample_turn) == ([1000, 1000], [1, 2])
    assert damaged == [f"{UNFINISHED}:2: the line was changed after it was written"]


@pytest.mark.parametrize(
    "line",
    [
        {"turn": {"cell": "x"}, "of": [CELL.name, 0, 1]},
        {"turn": {"sample_ns": [1, 2]}, "of": [CELL.name, 0, 1]},
        {"turn": 3, "of": [CELL.name, 0, 1]},
        {"turn": {}, "of": 3},
        {"turn": {}, "of": [[], {}, None]},
        {"record": 3},
        {"record": {"schema": 2}},
        {},
    ],
)
def test_a_note_of_another_form_is_left_out(tmp_path, line):
    journal.Journal(tmp_path).begin(Record(CELL, 0, 1, "ok"))
    with (tmp_path / UNFINISHED).open("a") as file:
        file.write(lines.sealed(line))
    damaged: list[str] = []
    assert journal.read(tmp_path, damaged) == []
    assert damaged or line == {"turn": {"cell": "x"}, "of": [CELL.name, 0, 1]}


def test_the_report_says_how_many_lines_were_left_out(tmp_path):
    copy_run("schema-2", tmp_path / "run")
    with (tmp_path / "run" / RECORDS).open("a") as file:
        file.write("{}\nnonsense\n")
    damaged: list[str] = []
    records = journal.read(tmp_path / "run", damaged)
    described = manifest.read(tmp_path / "run")
    assert described is not None
    made = report.make(records, dataclasses.replace(described, damaged=tuple(damaged)))
    assert "2 lines of the journal are damaged and were left out (records.jsonl:" in made.summary.caption
    assert "damaged" not in described.to_json()


@pytest.mark.parametrize("name", [RECORDS, UNFINISHED])
@pytest.mark.parametrize("kind", ["folder", "fifo", "loop", "device"])
def test_a_journal_that_is_no_file_is_refused_with_its_place_and_a_remedy(tmp_path, name, kind):
    make_special(tmp_path / name, kind)
    for use in (journal.read, journal.Journal):
        with pytest.raises(Refused, match=rf"{name}: .*\. .*(Move|Correct|move|correct)"):
            use(tmp_path)


@pytest.mark.parametrize("kind", ["folder", "fifo", "loop", "device"])
def test_a_description_that_is_no_file_is_damaged(tmp_path, kind):
    make_special(tmp_path / RUN, kind)
    damaged: list[str] = []
    assert manifest.read(tmp_path, damaged) is None
    assert len(damaged) == 1


def make_special(path: Path, kind: str) -> None:
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.symlink_to("/dev/zero")
