from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from bench.cell import Cell
from bench.host.reporting import report
from bench.host.storage import journal, manifest
from bench.host.storage.manifest import Manifest
from bench.record import FAILED, OK, Record

CELL = Cell("torch1", "torch", "eager", "gemm", "small", "float32", "cpu", 2)
OTHER = Cell("jax", "jax", "jit", "gemm", "small", "float32", "cpu", 2)
RUN = {
    "run": "1",
    "study": {"name": "two", "title": "Two", "baseline": "torch1:eager"},
    "profile": {"name": "quick"},
    "machine": {"processor": "A processor"},
    "environments": {"torch1": {"python": "3.10.13"}},
    "planned": [CELL.to_json(), OTHER.to_json()],
    "excluded": [],
    "finished": True,
}
MANIFEST = Manifest.from_json(RUN)
FILES = [
    *(
        "table.md",
        "table.tex",
        "results.csv",
        "details.csv",
        "samples.parquet",
        "summary.tex",
        "details.tex",
        "macros.tex",
        "ranking.csv",
    ),
    *("machine.json", "environments.json", "report.html"),
]
FIGURES = [f"figures/speedups.{ending}" for ending in ("pdf", "svg", "png")]


def timed(cell: Cell, number: int, step_ns: int) -> Record:
    samples = [10 * step_ns, 10 * step_ns + 7, 10 * step_ns + 3]
    return Record(
        cell, number, 1, OK, sample_steps=[10] * 3, sample_ns=samples, sample_cpu_ns=samples, sample_turn=[0, 1, 2]
    )


RECORDS = [timed(cell, number, 1000 + number) for cell in (CELL, OTHER) for number in range(3)]


def test_report_writes_all_files_and_names_them(tmp_path):
    written = report.make(RECORDS, MANIFEST).write(tmp_path).paths
    names = [path.relative_to(tmp_path).as_posix() for path in written]
    assert sorted(names) == sorted(FILES + FIGURES)
    found = (path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert sorted(found) == sorted(FILES + FIGURES)
    assert json.loads((tmp_path / "machine.json").read_text()) == RUN["machine"]
    assert json.loads((tmp_path / "environments.json").read_text()) == RUN["environments"]


def test_same_records_give_the_same_bytes(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, records in ((first, RECORDS), (second, RECORDS[::-1])):
        report.make(records, MANIFEST).write(folder)
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in FILES)


def test_report_is_redone_from_the_files_alone(tmp_path):
    (tmp_path / manifest.RUN).write_text(json.dumps(RUN))
    lines = [json.dumps(record.to_json()) for record in RECORDS]
    (tmp_path / journal.RECORDS).write_text("\n".join(lines) + '\n{"half": ')
    report.make(journal.read(tmp_path), manifest.read(tmp_path)).write(tmp_path / "again")
    report.make(RECORDS, MANIFEST).write(tmp_path / "direct")
    assert (tmp_path / "again/table.md").read_bytes() == (tmp_path / "direct/table.md").read_bytes()


def test_a_disturbed_cell_is_marked_in_every_format(tmp_path):
    samples = [15_950_000] * 8 + [110_000] * 2
    busy = [ns * 19 // 10 for ns in samples]
    spinning = replace(RECORDS[0], sample_steps=[10] * 10, sample_ns=samples, sample_cpu_ns=busy, sample_turn=[0] * 10)
    made = report.make([spinning, *RECORDS[3:]], MANIFEST)
    console = Console(file=io.StringIO(), width=400)
    made.print(console, details=True)
    made.write(tmp_path)
    for text in (
        console.file.getvalue(),
        *((tmp_path / name).read_text() for name in ("table.md", "table.tex", "details.csv")),
    ):
        assert "large spread: in 1 of 1 processes the median of the samples is more than 2 times" in text
        assert "processor time 1.9" in text
    for text in (console.file.getvalue(), *((tmp_path / name).read_text() for name in FILES[:2])):
        assert "the baseline of this ratio has a large spread, or was compiled while timing" in text


@pytest.mark.parametrize(
    "records",
    [[], RECORDS[:1], [Record(CELL, 0, 1, FAILED, stage="import", reason="ImportError: no module named torch")]],
    ids=["no record", "one record", "one failure"],
)
@pytest.mark.parametrize("run", [RUN, {}, {"study": {"name": "two"}, "finished": False}], ids=["run", "empty", "bare"])
def test_partial_runs_give_a_report(tmp_path, records, run):
    console = Console(file=io.StringIO(), width=100)
    report.make(records, Manifest.from_json(run)).write(tmp_path)
    report.make(records, Manifest.from_json(run)).print(console, details=True)
    assert all((tmp_path / name).stat().st_size for name in FILES)
    if records or run is RUN:
        assert "PyTorch eager" in console.file.getvalue().replace("\n", " ")
        assert "torch1: PyTorch" in console.file.getvalue()


def test_a_failed_report_leaves_the_old_one(tmp_path, monkeypatch):
    report.make(RECORDS, MANIFEST).write(tmp_path)
    before = (tmp_path / "table.md").read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    written = report.make(RECORDS[:1], MANIFEST).write(tmp_path)
    assert written.paths == []
    assert len(written.refused) >= len(FILES)
    assert all("disk full" in line for line in written.refused)
    assert (tmp_path / "table.md").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*FILES, "figures"])
