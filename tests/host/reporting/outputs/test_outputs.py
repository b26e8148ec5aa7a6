"""Tests that other people's outputs are written beside ours, and that one which fails loses nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.host.analysis.quality import Quality
from bench.host.reporting import outputs, report

FASTEST = """
NAME = "fastest.txt"

def write(report, folder):
    best = {}
    for result in report.analysis.results:
        if result.step is not None:
            best.setdefault(result.cell.row, []).append((result.step.value, result.cell.column))
    path = folder / NAME
    path.write_text("".join(f"{row}: {min(columns)[1]}\\n" for row, columns in best.items()))
    return [path]
"""
FAILS = """
NAME = "broken.txt"

def write(report, folder):
    (folder / NAME).write_text("half of it")
    raise KeyError("torch3")
"""
FIGURES = [output.name for output in outputs.BUILT_IN if output.name.startswith("figures/")]
#: The study has no claims.
OURS = [output.name for output in outputs.BUILT_IN if output.name not in (*FIGURES, "claims.md")]


def other_files(written, folder: Path) -> list[str]:
    """Name what was written but the figures, each of which is several files."""
    names = [path.relative_to(folder).as_posix() for path in written.paths]
    return [name for name in names if name.rpartition(".")[0] not in FIGURES]


def plug_in(folder: Path, **sources: str) -> list[Path]:
    """Write the modules of a plug-in as a study's own folder has them."""
    (folder / "outputs").mkdir(parents=True)
    files = [folder / "outputs" / f"{name}.py" for name in sources]
    for file, source in zip(files, sources.values(), strict=True):
        file.write_text(source)
    return files


def test_an_output_is_one_file_outside_the_package(tmp_path, long_study):
    extra, problems = outputs.load(plug_in(tmp_path / "mine", fastest=FASTEST))
    assert problems == []
    written = report.make(long_study.records, long_study.manifest).write(tmp_path / "report", extra)
    assert other_files(written, tmp_path / "report") == [*OURS, "fastest.txt"]
    assert (tmp_path / "report/fastest.txt").read_text().splitlines()[0] == "dispatch/small/float32/cpu: jax:jit"


def test_an_output_that_fails_names_its_line_and_loses_no_other(tmp_path, long_study):
    files = plug_in(tmp_path / "mine", broken=FAILS, fastest=FASTEST)
    (tmp_path / "report").mkdir()
    (tmp_path / "report/broken.txt").write_text("of yesterday")
    extra, _ = outputs.load(files)
    written = report.make(long_study.records, long_study.manifest).write(tmp_path / "report", extra)
    assert written.problems == [f"{files[0]}:6: KeyError: 'torch3'"]
    assert other_files(written, tmp_path / "report") == [*OURS, "fastest.txt"]
    assert (tmp_path / "report/broken.txt").read_text() == "of yesterday"
    assert {path.name for path in (tmp_path / "report").iterdir()} == {*OURS, "figures", "fastest.txt", "broken.txt"}


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("NAME = 'x.txt'\ndef write(report folder): pass", ":2: SyntaxError: invalid syntax"),
        ("\nimport nowhere_at_all", ":2: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("\n\nimport sys\nsys.exit(7)", ":4: SystemExit: 7"),
        ("def write(report, folder): pass", ": NAME is None; give the name of the file that it writes"),
        ("NAME = '../x.txt'\ndef write(report, folder): pass", ": NAME is '../x.txt'; give the name of the file"),
        ("NAME = 'table.md'\ndef write(report, folder): pass", ": NAME is 'table.md', which another output writes"),
        ("NAME = 'run.json'\ndef write(report, folder): pass", ": NAME is 'run.json', which belongs to the run"),
        ("NAME = 'history'\ndef write(report, folder): pass", ": NAME is 'history', which belongs to the run"),
        ("NAME = 'x.txt'", ": there is no write(report, folder)"),
    ],
)
def test_a_file_that_is_no_output_says_where_and_why(tmp_path, source, problem):
    files = plug_in(tmp_path / "mine", wrong=source, fastest=FASTEST)
    extra, problems = outputs.load(files)
    assert [output.name for output in extra] == ["fastest.txt"]
    (found,) = problems
    assert found.startswith(f"{files[0]}{problem}")


def test_an_output_cannot_end_the_report(tmp_path, long_study):
    source = "import sys\n\nNAME = 'x.txt'\n\ndef write(report, folder):\n    sys.exit(7)\n"
    (file,) = files = plug_in(tmp_path / "mine", wrong=source)
    extra, _ = outputs.load(files)
    written = report.make(long_study.records, long_study.manifest).write(tmp_path / "report", extra)
    assert written.problems == [f"{file}:6: SystemExit: 7"]


@pytest.mark.parametrize("returned", ["None", "[folder.parent / 'elsewhere.txt']", "[folder / 'not-written.txt']"])
def test_an_output_that_returns_no_files_of_its_folder_is_told(tmp_path, long_study, returned):
    source = f"NAME = 'x.txt'\n\ndef write(report, folder):\n    return {returned}\n"
    (file,) = files = plug_in(tmp_path / "mine", wrong=source)
    extra, _ = outputs.load(files)
    written = report.make(long_study.records, long_study.manifest).write(tmp_path / "report", extra)
    (problem,) = written.problems
    assert problem.startswith(str(file))
    assert other_files(written, tmp_path / "report") == OURS


@pytest.mark.parametrize(
    "name",
    ["records.jsonl", "records.jsonl.gz", "run.json", "table.md", "figures/speedups.pdf", "history/x", "x/../run.json"],
)
def test_an_output_cannot_replace_a_file_of_the_run_or_of_ours(tmp_path, long_study, name):
    source = f"""
NAME = "x.txt"

def write(report, folder):
    path = folder / {name!r}
    (folder / "x").mkdir()
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    return [path]
"""
    (file,) = files = plug_in(tmp_path / "mine", wrong=source)
    there = tmp_path / "report" / name
    (tmp_path / "report" / "x").mkdir(parents=True)
    there.parent.mkdir(exist_ok=True)
    there.write_text("of the run")
    extra, _ = outputs.load(files)
    written = report.make(long_study.records, long_study.manifest).write(tmp_path / "report", extra)
    said = f"it returns {name}, which is not a file of its own; choose another name"
    assert written.problems == [f"{file}: ValueError: {said}"]
    assert there.read_bytes() != b"mine"


def test_the_example_of_the_documentation_is_an_output_that_withholds_disturbed_times(tmp_path, long_study):
    text = (Path(__file__).resolve().parents[4] / "docs" / "extending.md").read_text()
    (example,) = (block.partition("```")[0] for block in text.split("```python\n") if block.startswith('NAME = "'))
    extra, problems = outputs.load(plug_in(tmp_path / "mine", times=example))
    assert problems == []
    made = report.make(long_study.records, long_study.manifest)
    first = next(result for result in made.analysis.results if result.quality is not None)
    first.__dict__["quality"] = Quality.DISTURBED
    written = made.write(tmp_path / "report", extra)
    assert written.problems == []
    lines = (tmp_path / "report" / "times.txt").read_text().splitlines()
    assert len(lines) == len(made.analysis.results)
    assert f"{first.cell.name}: ok" in lines
    assert any(line.endswith(" s") for line in lines)
