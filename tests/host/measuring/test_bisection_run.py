"""Bisects real releases: wheels of a tiny framework that the test makes, of which one from a release on does more work.

Every release is an installation of its own, with its own Python, and its cells are measured as any other cells are.
"""

from __future__ import annotations

import shutil
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from wheels import make_wheel

from bench.cell import Cell
from bench.host import environments
from bench.host.commands.bisect_report import report
from bench.host.environments import Prepared
from bench.host.environments.components import Component, components, exchanged, is_exchanged
from bench.host.measuring.bisection_run import BisectionRun
from bench.host.measuring.pair_measurement import PairMeasurement
from bench.host.statistics.attribution import Part
from bench.host.statistics.bisection import Change, NoChange
from bench.host.study import study_file
from bench.host.study.environment import Environment

# Three times the work is found beside other tests, too: noise decides only how many rounds are measured.
pytestmark = pytest.mark.long

TOYS = Path(__file__).resolve().parents[2] / "extensions" / "toy"
FACTS = """
from bench.frameworks.facts import Facts, Mode
FACTS = Facts(
    product="Toy", distribution="toyframe", import_name="toyframe", modes=(Mode("eager"),), computes_with_numpy=True
)
"""
ADAPTER = """
from bench.frameworks.numpy.adapter import Adapter as NumPyAdapter
class Adapter(NumPyAdapter):
    def __init__(self, mode, device, precision, threads):
        super().__init__("eager", device, precision, threads)
"""
#: The work of a step is what the installed release says, times what the installed toyblas says.
IMPLEMENTATION = """
import toyblas
import toyframe
from bench.frameworks.numpy.adapter import inference
from . import reference

def build(size, parameters, batch, transform):
    def compute(parameters, *batch):
        for _ in range(toyframe.value * toyblas.value):
            result = reference(size, parameters, batch)
        return result
    return inference(compute, parameters, transform)
"""
STUDY = """
[study]
name = "toys"
baseline = "toy-1.0:eager"
default = ["toy-1.0"]
profile = "brief"
seed = 1
threads = 1
paths = ["./mine"]
{environments}
[workloads.saxpy]
[profiles.brief]
peaks = false
rounds = 8
samples = 5
sample_seconds = 0.004
sizes = ["tiny"]
timeout_s = 60
workers = "own"
"""
TABLE = """
[environments."{name}"]
provider = "existing"
interpreter = "{python}"
framework = "toy"
modes = ["eager"]
"""


def install(folder: Path, wheels: list[Path]) -> Path:
    """Make an environment with these wheels and this interpreter's NumPy; return its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
    numpy = Path(np.__file__).parent
    (site / "numpy").symlink_to(numpy)
    for beside in (*numpy.parent.glob("numpy.libs"), *numpy.parent.glob("numpy-*.dist-info")):
        (site / beside.name).symlink_to(beside)
    return folder / "bin" / "python"


class Releases:
    """A project with releases of the tiny framework; each is (work, version of toyblas)."""

    def __init__(self, folder: Path, works: list[tuple[int, str]]) -> None:
        self.folder = folder
        self.prepared: list[str] = []
        shutil.copytree(TOYS, folder / "mine", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "mine" / "frameworks" / "toy" / "facts.py").write_text(FACTS)
        (folder / "mine" / "frameworks" / "toy" / "adapter.py").write_text(ADAPTER)
        (folder / "mine" / "workloads" / "saxpy" / "toy.py").write_text(IMPLEMENTATION)
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        tables = []
        for number, (work, blas) in enumerate(works):
            name = f"toy-1.{number}"
            python = self.install(name, f"1.{number}", work, blas)
            tables.append(TABLE.format(name=name, python=python))
        (folder / "matrix.toml").write_text(STUDY.format(environments="".join(tables)))
        study = study_file.load(folder / "matrix.toml")
        members = {name: one.in_family("toy", name.removeprefix("toy-")) for name, one in study.environments.items()}
        self.study = study.model_copy(update={"environments": members})
        self.cells = [Cell(name, "toy", "eager", "saxpy", "tiny", "float32", "cpu", 1) for name in members]

    def install(self, name: str, version: str, work: int, blas: str) -> Path:
        factor = int(blas.partition(".")[0])
        wheels = [
            make_wheel(self.wheels, name="toyframe", version=version, value=work),
            make_wheel(self.wheels, name="toyblas", version=blas, value=factor),
        ]
        return install(self.folder / "installed" / name, wheels)

    def prepare(self, environment: Environment) -> Prepared:
        self.prepared.append(environment.name)
        return environments.prepare(
            environment, root=self.folder, announce=lambda text: None, registry=self.study.registry
        )

    def run(self, **options: object) -> BisectionRun:
        measurement = PairMeasurement(
            self.folder,
            self.folder / "reports" / "toys" / "bisect" / "toy",
            self.study,
            self.study.profiles["brief"],
            1,
            Console(quiet=True),
        )
        return BisectionRun(measurement, self.cells, self.prepare, lambda needed: None, lambda text: None, **options)


@pytest.fixture(scope="module")
def bisected(tmp_path_factory):
    """Bisect twelve releases, of which those from 1.8 on do three times the work."""
    releases = Releases(tmp_path_factory.mktemp("project"), [(20 if n < 8 else 60, "1.0") for n in range(12)])
    return releases, releases.run().bisect()


def test_the_release_that_does_more_work_is_found_with_few_environments(bisected):
    releases, found = bisected
    assert isinstance(found.end, Change)
    assert found.releases[found.end.release] == "toy-1.8"
    # The machine of a test may be busy: how close the interval is, is tested by simulation.
    assert found.end.ratio.deciding[0] > 1.0
    assert len({name for key in found.pairs for name in key}) <= 8
    assert set(releases.prepared) == {name for key in found.pairs for name in key}
    text = "\n".join(report(found, releases.cells))
    assert text.startswith("eager saxpy/tiny/float32/cpu: ")
    assert " slower [" in text
    assert "since toy-1.8 (against toy-1.7)" in text


def test_a_bisection_that_ended_is_read_and_not_measured_again(bisected):
    releases, found = bisected
    files = {path: path.read_bytes() for path in releases.folder.rglob("records.jsonl")}
    again = releases.run().bisect()
    assert (again.end, again.releases) == (found.end, found.releases)
    assert {path: path.read_bytes() for path in releases.folder.rglob("records.jsonl")} == files


def test_a_change_of_the_code_is_measured_anew(bisected):
    releases, found = bisected
    path = releases.folder / "mine" / "workloads" / "saxpy" / "toy.py"
    before = path.read_text()
    path.write_text(before + "# edited\n")
    key = releases.cells[11], releases.cells[0]
    run = releases.run()
    prepared = {cell.environment: run.prepare(releases.study.environments[cell.environment]) for cell in key}
    assert len(run.measurement.stored(*key, prepared)) == 0
    path.write_text(before)
    assert len(run.measurement.stored(*key, prepared)) == len(found.pairs["toy-1.11", "toy-1.0"])


def test_releases_that_cannot_be_measured_are_left_out_with_their_reasons(tmp_path):
    releases = Releases(tmp_path, [(20, "1.0"), (20, "1.0"), (60, "1.0"), (60, "1.0")])
    shutil.rmtree(tmp_path / "installed" / "toy-1.3")
    site = next((tmp_path / "installed" / "toy-1.1").glob("lib/python*/site-packages"))
    (site / "toyframe" / "__init__.py").write_text("raise RuntimeError('built for another machine')\n")
    found = releases.run().bisect()
    assert "built for another machine" in found.unavailable["toy-1.1"]
    assert found.unavailable["toy-1.3"].startswith("unsupported: the interpreter")
    assert isinstance(found.end, Change)
    assert found.releases[found.end.release] == "toy-1.2"
    lines = list(report(found, releases.cells))
    assert "  It may have come with a release between that was not measured: toy-1.1" in lines
    # The pairs that are stored say whether one became faster, too.
    assert isinstance(releases.run(faster=True).bisect().end, NoChange)


@pytest.mark.parametrize(
    ("works", "part", "said"),
    [
        pytest.param([(20, "1.0"), (60, "1.1")], Part.NOT_IT, "; not other packages", marks=pytest.mark.long),
        pytest.param([(20, "1.0"), (20, "3.0")], Part.IT, "; it is other packages", marks=pytest.mark.long),
    ],
)
def test_the_change_is_attributed_to_what_is_exchanged(tmp_path, monkeypatch, works, part, said):
    """toyblas changed with the release: in one case only its number, in the other it does three times the work."""
    releases = Releases(tmp_path, works)
    python = releases.install("exchanged", "1.1", works[1][0], works[0][1])
    made = releases.study.environments["toy-1.1"].model_copy(
        update={"name": "toy-1.1-with-old-toyblas", "interpreter": str(python)}
    )
    # An installer would resolve the pinned requirement; the wheels of this test are installed by hand.
    monkeypatch.setattr("bench.host.measuring.bisection_run.exchanged", lambda *given: made)
    run = releases.run()
    found = run.attribute(run.bisect())
    assert [(one.component.name, one.part) for one in found.parts] == [("other packages", part)]
    text = "\n".join(report(found, releases.cells))
    assert said in text.splitlines()[0]


def test_an_exchange_ends_where_what_it_is_compared_with_cannot_be_measured(tmp_path, monkeypatch):
    releases = Releases(tmp_path, [(20, "1.0"), (20, "3.0")])
    made = releases.study.environments["toy-1.1"].model_copy(update={"name": "toy-1.1-with-old-toyblas"})
    monkeypatch.setattr("bench.host.measuring.bisection_run.exchanged", lambda *given: made)
    monkeypatch.setattr("bench.host.measuring.bisection_run.is_exchanged", lambda *given: True)
    run = releases.run()
    run.prepared = {cell.environment: run.prepare(releases.study.environments[cell.environment]) for cell in run.cells}
    monkeypatch.setattr(run, "_measure", lambda cell, before, more: run.unavailable.update({"toy-1.0": "killed"}))
    found = run._exchange(Component("other packages", {"toyblas": "1.0"}, {"toyblas": "3.0"}), *run.cells, 1.0)
    assert (found.part, found.reason) == (None, "killed")


def test_what_differs_beside_the_framework_is_listed_by_component():
    facts = study_facts()
    before = {"interpreter": {"version": "3.10.4"}, "packages": {"torch": "2.8.0", "numpy": "1.26.4", "mkl": "2021.4"}}
    after = {
        "interpreter": {"version": "3.11.7"},
        "packages": {"torch": "2.9.0", "numpy": "2.4.6", "mkl": "2021.4", "nvidia_cublas": "13.4", "Jinja2": "3.1"},
    }
    found = components(before, after, facts)
    assert [one.name for one in found] == ["Python", "NumPy", "CUDA", "other packages"]
    assert str(found[1]) == "NumPy (numpy 1.26.4 → 2.4.6)"
    assert components(after, after, facts) == []


def study_facts():
    from bench.registry import BUILT_IN

    return BUILT_IN.facts("torch")


def environment(version: str, python: str) -> Environment:
    values = {
        "name": f"torch-{version}",
        "framework": "torch",
        "python": python,
        "requirements": (f"torch=={version}", "numpy<3", "setuptools"),
        "modes": ("eager",),
    }
    return Environment.model_validate(values).in_family("torch", version)


def test_a_component_is_exchanged_by_its_version_or_said_to_be_inseparable():
    before, after = environment("2.8.0", "3.10"), environment("2.9.0", "3.11")
    numpy = Component("NumPy", {"numpy": "1.26.4"}, {"numpy": "2.4.6"})
    packages = {"torch": "2.9.0+cpu", "numpy": "2.4.6", "setuptools": "80.1", "Jinja2": "3.1"}
    made = exchanged(after, before, numpy, packages)
    # Nothing else is exchanged with it, also where the lock of the release is not the newest.
    assert set(made.requirements) == {"torch==2.9.0", "setuptools==80.1", "Jinja2==3.1", "numpy==1.26.4"}
    assert made.name == "torch-2.9.0-with-numpy-of-2.8.0"
    assert is_exchanged({"packages": {"numpy": "1.26.4"}}, numpy)
    assert not is_exchanged({"packages": {"numpy": "2.4.6"}}, numpy)
    python = exchanged(after, before, Component("Python", {"python": "3.10.4"}, {"python": "3.11.7"}), packages)
    assert python.python == "3.10"
    assert set(python.requirements) == {"torch==2.9.0", "setuptools==80.1", "Jinja2==3.1", "numpy==2.4.6"}
    assert "has none of it" in exchanged(after, before, Component("CUDA", {}, {"nvidia-cublas": "13.4"}), packages)
    rebuilt = Component("Python", {"python": "3.11.6"}, {"python": "3.11.7"})
    assert "another build" in exchanged(after, after, rebuilt, packages)
