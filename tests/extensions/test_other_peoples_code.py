"""Tests other people's code from end to end: a framework, a mode, a workload and an output outside the repository."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bench.host.__main__ import main
from bench.host.analysis.run_analysis import analyse
from bench.host.environments import Prepared
from bench.host.reporting.words.labels import labels_of
from bench.host.storage import journal, manifest
from bench.host.study import study_file
from bench.host.validation.validation import Validation
from bench.registry import BENCH

HERE = Path(__file__).resolve().parent
STUDY = """
[study]
name = "toys"
baseline = "numpy:eager"
default = ["numpy", "toy"]
profile = "check"
seed = 1
threads = 1
paths = ["./mine"]

[environments.numpy]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager", "checked"]

[environments.toy]
provider = "existing"
interpreter = "{python}"
framework = "toy"
modes = ["eager", "planned"]

[workloads.saxpy]
[workloads.gemm]

[profiles.check]
peaks = false
rounds = 1
samples = 3
sample_seconds = 0.001
sizes = ["check"]
timeout_s = 60
"""


@pytest.fixture
def project(tmp_path):
    """Make a project whose study file names a folder with other people's code."""
    shutil.copytree(HERE / "toy", tmp_path / "mine", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "matrix.toml").write_text(STUDY.format(python=sys.executable))
    return tmp_path


def call(project: Path, command: str, *arguments: str) -> int:
    return main([command, "--matrix", str(project / "matrix.toml"), *arguments], root=project)


def records_of(project: Path):
    return journal.read(project / "reports" / "toys")


def test_a_framework_a_mode_workloads_and_an_output_run_with_no_edit_inside(project):
    assert call(project, "run") == 0
    records = records_of(project)
    assert {(r.cell.column, r.cell.workload, r.status) for r in records} == {
        (column, workload, "ok")
        for column in ("numpy:eager", "numpy:checked", "toy:eager", "toy:planned")
        for workload in ("saxpy", "gemm")
    }
    settings = {record.cell.column: record.settings for record in records}
    assert settings["toy:planned"]["compiled"] == "forward"
    assert settings["toy:planned"]["TOY_THREADS"] == "1"
    assert "TOY_THREADS" not in settings["numpy:eager"]
    assert settings["numpy:checked"]["compiled"] == "nothing"
    # Its package is NumPy.
    version = re.match(r"\d+\.\d+", np.__version__)
    assert version
    table = (project / "reports" / "toys" / "table.md").read_text()
    assert f"Toy {version[0]} eager" in table
    assert f"Toy {version[0]} planned" in table
    # A report is made from the files of the run alone, in whatever folder.
    assert described_without_sources(project) == {f"Toy {version[0]} eager", f"Toy {version[0]} planned"}
    statuses = (project / "reports" / "toys" / "statuses.txt").read_text().splitlines()
    assert "toy:planned saxpy/check/float32/cpu: ok" in statuses
    assert len(statuses) == len(records)


def described_without_sources(project: Path) -> set[str]:
    """Return what a report calls the columns of the toy framework when its files are gone."""
    (project / "mine").rename(project / "gone")
    found = manifest.read(project / "reports" / "toys")
    assert found is not None
    labels = labels_of(analyse(records_of(project), found).results)
    (project / "gone").rename(project / "mine")
    return {label.text for column, label in labels.items() if column.startswith("toy:")}


@pytest.mark.long
def test_programs_that_are_edited_during_a_run_are_named_in_its_report(project, capsys):
    program = project / "mine" / "workloads" / "saxpy" / "toy.py"
    # The worker that imports the program edits it: a person would between two rounds.
    edit = "\nwith open(__file__, 'a') as edited:\n    edited.write('# later\\n')\n"
    program.write_text(program.read_text() + edit)
    assert call(project, "run") == 0
    assert "Changed while it was measured: the programs." in capsys.readouterr().out
    found = manifest.read(project / "reports" / "toys")
    assert found is not None
    assert found.changed_sources == ("mine/workloads/saxpy/toy.py",)
    table = (project / "reports" / "toys" / "table.md").read_text()
    assert "Edited while the run went on (mine/workloads/saxpy/toy.py)" in table


@pytest.mark.long
def test_the_report_that_is_made_anew_has_other_peoples_outputs(project):
    assert call(project, "run", "--environment", "toy") == 0
    (project / "reports" / "toys" / "statuses.txt").unlink()
    assert call(project, "report") == 0
    assert (project / "reports" / "toys" / "statuses.txt").exists()


def test_the_added_mode_is_what_the_added_mode_does(project):
    """The built-in implementation of gemm overflows on purpose: only the mode that checks for it fails."""
    (project / "mine" / "workloads" / "saxpy" / "numpy.py").write_text(
        "from bench.frameworks.numpy.adapter import inference\nfrom . import reference\nimport numpy as np\n"
        "def overflowing(size, parameters, batch):\n    np.float32(3e38) * np.float32(10)\n"
        "    return reference(size, parameters, batch)\n"
        "def build(size, parameters, batch, transform):\n"
        "    return inference(lambda p, *batch: overflowing(size, p, batch), parameters, transform)\n"
    )
    assert call(project, "run", "--environment", "numpy", "--workload", "saxpy") == 1
    ended = {record.cell.mode: record for record in records_of(project)}
    assert ended["eager"].status == "ok"
    assert ended["checked"].status == "failed"
    assert "FloatingPointError" in ended["checked"].reason
    assert ended["checked"].reason.endswith("(mine/workloads/saxpy/numpy.py:5)")


def test_an_error_in_an_implementation_names_its_file_and_line(project):
    path = project / "mine" / "workloads" / "gemm" / "toy.py"
    path.write_text("def build(size, parameters, batch, transform):\n    raise ValueError('no product today')\n")
    assert call(project, "run", "--environment", "toy", "--mode", "eager") == 1
    reasons = {record.cell.workload: record.reason for record in records_of(project)}
    assert reasons == {"saxpy": None, "gemm": "ValueError: no product today (mine/workloads/gemm/toy.py:2)"}


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "workloads/saxpy/__init__.py",
            "x = 1\n\ny = z\n",
            "mine/workloads/saxpy/__init__.py:3: NameError: name 'z' is",
        ),
        ("workloads/saxpy/__init__.py", "x = (\n", "mine/workloads/saxpy/__init__.py:1: SyntaxError: "),
        ("workloads/saxpy/__init__.py", "ITEM = 1\n", "mine/workloads/saxpy/__init__.py: does not define SIZES, PREC"),
        ("frameworks/toy/facts.py", "import absent\n", "mine/frameworks/toy/facts.py:1: ModuleNotFoundError: "),
        (
            "frameworks/toy/facts.py",
            "from bench.frameworks.facts import Facts, Mode\n"
            "FACTS = Facts(product='a\\nb', distribution='toy', import_name='toy', modes=(Mode('eager'),))\n",
            "mine/frameworks/toy/facts.py: product = 'a\\nb': must be a name in quotes, of at most 100 printable",
        ),
        ("frameworks/numpy/modes.py", "MODES = 3 / 0\n", "mine/frameworks/numpy/modes.py:1: ZeroDivisionError: "),
        ("frameworks/numpy/modes.py", "MODES = ('fast',)\n", "mine/frameworks/numpy/modes.py: mode 'fast' must be"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_before_anything_runs(project, capsys, file, text, message):
    (project / "mine" / file).write_text(text)
    assert call(project, "run", "--dry-run") == 2
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.long
def test_a_changed_file_is_another_run(project):
    assert call(project, "run", "--workload", "saxpy", "--environment", "toy") == 0
    first = {record.run for record in records_of(project)}
    path = project / "mine" / "workloads" / "saxpy" / "toy.py"
    path.write_text(path.read_text() + "# edited\n")
    assert call(project, "run", "--workload", "saxpy", "--environment", "toy") == 0
    assert first.isdisjoint(record.run for record in records_of(project))


def test_a_package_brings_the_same_by_its_entry_point(project, monkeypatch):
    (project / "site").mkdir()
    (project / "mine").rename(project / "site" / "toy_package")
    (project / "site" / "toy_package" / "__init__.py").write_text("raise RuntimeError('this needs not run')\n")
    metadata = project / "site" / "toy_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[benchmatrix]\ntoys = toy_package\n")
    monkeypatch.syspath_prepend(str(project / "site"))
    text = (project / "matrix.toml").read_text()
    (project / "matrix.toml").write_text(text.replace('paths = ["./mine"]', 'packages = ["toys"]'))
    study = study_file.load(project / "matrix.toml")
    assert study.registry.others == {"toy_package": str(project / "site" / "toy_package")}
    assert study.registry.facts("toy").mode_names == ("eager", "planned")
    assert call(project, "run", "--environment", "toy", "--workload", "saxpy") == 0


@pytest.mark.parametrize(("validated", "columns"), [(False, {"numpy:eager"}), (True, {"numpy:eager", "toy:planned"})])
def test_validation_compares_the_modes_of_an_added_framework_that_say_so(project, validated, columns):
    """Of the kernels of the validation, toy implements gemm alone."""
    facts = project / "mine" / "frameworks" / "toy" / "facts.py"
    facts.write_text(facts.read_text().replace("first_call_s=0.5", f"validated={validated}"))
    study = study_file.load(project / "matrix.toml")
    prepared = {"toy": Prepared("toy", "ok", command=(sys.executable,))}
    trials = Validation(project, study, prepared, 1, Console(quiet=True)).trials(60, {})
    assert {trial.cell.column for trial in trials} == columns
    assert {trial.cell.workload for trial in trials if trial.cell.framework == "toy"} <= {"gemm"}


@pytest.mark.long
def test_a_framework_inside_the_repository_is_its_folder_and_its_implementations(tmp_path):
    """And a further mode of it is an edit in its folder."""
    code = tmp_path / "bench"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(BENCH.folder, code, ignore=ignored)
    before = {path: path.read_bytes() for path in code.rglob("*") if path.is_file()}
    shutil.copytree(HERE / "toy" / "frameworks" / "toy", code / "frameworks" / "toy", ignore=ignored)
    shutil.copy(HERE / "toy" / "workloads" / "gemm" / "toy.py", code / "workloads" / "gemm")
    facts = code / "frameworks" / "toy" / "facts.py"
    facts.write_text(facts.read_text().replace('Mode("eager")', 'Mode("eager"), Mode("replanned")'))
    assert all(path.read_bytes() == content for path, content in before.items())
    text = STUDY.format(python=sys.executable).replace('paths = ["./mine"]', "").replace("[workloads.saxpy]\n", "")
    text = text.replace('["eager", "checked"]', '["eager"]').replace('"planned"]', '"planned", "replanned"]')
    (tmp_path / "matrix.toml").write_text(text)
    command = [sys.executable, "-m", "bench.host", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {(r.cell.column, r.status) for r in records_of(tmp_path)} == {
        (column, "ok") for column in ("numpy:eager", "toy:eager", "toy:planned", "toy:replanned")
    }
