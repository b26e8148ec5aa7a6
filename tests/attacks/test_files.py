"""Attacks through files and folders: a full or read-only disk, a folder that is a file. One line, and nothing lost."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_project import call, spawn, wait_for, write

from bench.cell import Cell
from bench.host import refusal
from bench.host.refusal import Refused
from bench.host.storage import archive, journal
from bench.host.storage.journal import RECORDS, UNFINISHED
from bench.record import Record

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
CELL = Cell("torch2", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
REMEDY = re.compile(r"Free|Move|move|Make|Correct|correct|Give|Allow|Check|Restore")


def record(number: int = 0) -> Record:
    return Record(
        CELL,
        number,
        1,
        "ok",
        sample_steps=[4],
        sample_ns=[1000],
        sample_cpu_ns=[900],
        sample_turn=[0],
        reason="x" * 200,
    )


def assert_one_line(said: str, place: str) -> None:
    lines = [line for line in said.splitlines() if line.strip()]
    assert "Traceback" not in said
    assert len(lines) == 1, said
    assert place in lines[0]
    assert REMEDY.search(lines[0]), lines[0]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
@pytest.mark.parametrize("call_", ["fsync", "ftruncate"])
def test_a_disk_that_takes_no_more_leaves_the_journal_whole(tmp_path, monkeypatch, number, call_):
    book = journal.Journal(tmp_path)
    book.append(record(0))

    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        if call_ == "ftruncate":
            patch.setattr("os.ftruncate", full)
        with pytest.raises(Refused, match=f"{RECORDS}: cannot be used: ") as caught:
            book.append(record(1))
    assert_one_line(str(caught.value), RECORDS)
    journal.Journal(tmp_path).append(record(2))
    assert [one.round for one in journal.read(tmp_path)][:1] == [0]
    assert journal.read(tmp_path)[-1] == record(2)


def test_a_file_that_may_not_grow_costs_no_record(tmp_path):
    program = (
        "import resource, sys; from pathlib import Path; sys.path.insert(0, 'tests/attacks');"
        "sys.path.insert(0, 'tests/support'); sys.dont_write_bytecode = True;"
        "from test_files import record; from bench.host.storage import journal;"
        f"book = journal.Journal(Path({str(tmp_path)!r}));"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000));"
        "[book.append(record(number)) for number in range(50)]"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert f"Refused: {tmp_path / RECORDS}: cannot be used: File too large. Allow larger files" in done.stderr
    damaged: list[str] = []
    kept = journal.read(tmp_path, damaged)
    assert kept == [record(number) for number in range(len(kept))]
    assert len(kept) > 3
    assert damaged == []


def test_a_full_disk_ends_a_run_in_one_line_and_the_same_command_continues(tmp_path, mounted, capfd):
    """The limit is that of a real file system, which holds the reports alone."""
    write(tmp_path, rounds=12)
    (tmp_path / "reports").symlink_to(mounted("size=16k"))
    assert call(tmp_path, "run") == 2
    said = capfd.readouterr().err
    assert "Traceback" not in said
    assert "Free some space" in said
    damaged: list[str] = []
    folder = tmp_path / "reports" / "small"
    before = journal.read(folder, damaged)
    assert before
    assert damaged == []
    resize = ["mount", "-o", "remount,size=64m", str((tmp_path / "reports").resolve())]
    subprocess.run(resize, check=True)
    assert call(tmp_path, "run") == 0
    after = journal.read(folder)
    assert len({one.round for one in after}) == 12
    assert all(one in after for one in before)


@pytest.mark.parametrize("place", ["reports", "reports/small", ".nox", ".nox/references", ".nox/run.lock/x"])
def test_a_folder_that_is_a_file_is_named(tmp_path, capfd, place):
    write(tmp_path)
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    assert call(tmp_path, "run") == 2
    last = capfd.readouterr().err.strip().splitlines()[-1]
    assert_one_line(last, str(tmp_path / place.removesuffix("/x")))
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", [RECORDS, UNFINISHED, "table.md", "run.json"])
def test_a_file_that_is_a_folder_is_named_and_a_report_writes_the_others(tmp_path, capfd, name):
    write(tmp_path)
    assert call(tmp_path, "run") == 0
    capfd.readouterr()
    folder = tmp_path / "reports" / "small"
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    (folder / "details.csv").unlink()
    assert call(tmp_path, "report") == 2
    assert_one_line(capfd.readouterr().err, name)
    assert (folder / "details.csv").exists() == (name == "table.md")


@pytest.mark.parametrize("target", ["nowhere/at/all", "small"])
def test_a_link_that_leads_nowhere_is_named(tmp_path, capfd, target):
    write(tmp_path)
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "small").symlink_to(target)
    assert call(tmp_path, "run") == 2
    assert_one_line(capfd.readouterr().err, "reports/small")


@pytest.fixture
def mounted(tmp_path):
    """Return a function that mounts an empty file system of a size and returns its folder."""
    folders = []

    def mount(option: str) -> Path:
        folder = tmp_path / f"mounted-{len(folders)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)]
        if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("this user cannot mount")
        folders.append(folder)
        return folder

    yield mount
    for folder in folders:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def read_only(mounted):
    """Return a project that nothing can be written into."""
    folder = write(mounted("size=64k"))
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    return folder


def test_a_read_only_project_is_refused_in_one_line(read_only, capfd):
    assert call(read_only, "run") == 2
    assert_one_line(capfd.readouterr().err, str(read_only))


def test_wrong_data_is_found_before_the_previous_run_is_moved_away(tmp_path, capfd):
    write(tmp_path)
    assert call(tmp_path, "run") == 0
    before = journal.read(tmp_path / "reports" / "small")
    write(tmp_path, more='[workloads.lenet-train]\ndata = "nowhere"')
    assert call(tmp_path, "run", "--workload", "lenet-train,gemm") == 2
    assert "nowhere does not exist" in capfd.readouterr().err
    assert journal.read(tmp_path / "reports" / "small") == before
    assert not (tmp_path / "reports" / "small" / archive.HISTORY).exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_a_run_leaves_a_table(tmp_path, number):
    write(tmp_path, rounds=20, samples=10, sample_seconds=0.05)
    folder = tmp_path / "reports" / "small"
    process = spawn(tmp_path, "run")
    wait_for(lambda: bool((folder / RECORDS).exists() and (folder / RECORDS).stat().st_size))
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number
    assert "Traceback" not in said
    assert "What was measured is kept" in said
    assert "Partial" in (folder / "table.md").read_text()
    assert journal.read(folder)


def test_a_run_whose_terminal_is_gone_leaves_a_table(tmp_path):
    write(tmp_path, rounds=20, samples=10, sample_seconds=0.05)
    folder = tmp_path / "reports" / "small"
    process = spawn(tmp_path, "run")
    wait_for(lambda: bool((folder / RECORDS).exists() and (folder / RECORDS).stat().st_size))
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stderr.close()
    process.send_signal(signal.SIGHUP)
    process.wait(60)
    assert "Partial" in (folder / "table.md").read_text()


def test_every_error_of_a_file_has_a_remedy_and_steers_no_terminal():
    for number in refusal.REMEDIES:
        said = refusal.describe(OSError(number, os.strerror(number), "a file"))
        assert said.startswith("a file: cannot be used: ")
        assert said.count(". ") == 1
    assert refusal.harmless("a\x1b[2J\u202eb\tc\nd") == "a\ufffd[2J\ufffdb\tc\nd"
    assert len(refusal.harmless("x" * 10**6)) < 200_000


def test_the_place_of_an_error_without_a_file_is_the_one_that_was_used(tmp_path):
    with pytest.raises(Refused, match="somewhere: cannot be used"), refusal.naming(Path("somewhere")):
        raise OSError(errno.ENOSPC, "No space left on device")
