"""Tests that the version of a framework is found in its records, whatever its package is called."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from bench.cell import Cell
from bench.host.analysis.baselines import columns_before
from bench.host.analysis.releases import lines_of
from bench.host.analysis.results import Result
from bench.host.analysis.run_analysis import analyse
from bench.host.analysis.run_results import results_of
from bench.host.analysis.versions import framework_version, names_of
from bench.host.reporting import report
from bench.host.reporting.outputs import results_csv
from bench.host.reporting.words.labels import labels_of
from bench.host.storage import journal, manifest
from bench.host.storage.manifest import Manifest
from bench.host.storage.manifest_schema import FrameworkNames
from bench.record import Record

LIBRARIES = Path(__file__).parents[3] / "reports" / "reference" / "libraries"
#: {environment: what its records say, as the adapters of these frameworks do}
RECORDED = {
    "haiku": {"jax": "0.10.2", "jaxlib": "0.10.2", "optax": "0.2.8", "dm-haiku": "0.0.17"},
    "tensorflow1": {"tensorflow": "1.15.5"},
    "tflite": {"ai-edge-litert": "2.3.0", "tensorflow": "2.21.0"},
    "keras": {"tensorflow": "2.21.0", "keras": "3.15.1"},
    "torch": {"torch": "2.15.0+cpu", "mkl": "2024.2"},
    "theirs": {"theirs": "4.2", "numpy": "2.4.6"},
}


def result(framework: str, versions: dict[str, str], environment: str = "", mode: str = "jit") -> Result:
    cell = Cell(environment or framework, framework, mode, "gemm", "tiny", "float32", "cpu", 1)
    return Result(cell, "ok", records=(Record(cell, 0, 1, "ok", versions={"python": "3.11.7", **versions}),))


@pytest.mark.parametrize(
    ("framework", "version"),
    [
        ("haiku", "0.0.17"),
        ("tensorflow1", "1.15.5"),
        ("tflite", "2.3.0"),
        ("keras", "3.15.1"),
        ("torch", "2.15.0+cpu"),
        # Other people's, whose facts need not be here.
        ("theirs", "4.2"),
    ],
)
def test_a_framework_has_the_version_of_its_own_package(framework, version):
    assert framework_version(names_of(framework), RECORDED[framework]) == version
    assert framework_version(names_of(framework), {"python": "3.11.7"}) is None


@pytest.mark.parametrize(
    ("framework", "name"),
    [
        ("haiku", "Haiku 0.0.17 jit"),
        ("tensorflow1", "TensorFlow graphs 1.15 jit"),
        ("tflite", "TensorFlow Lite 2.3 jit"),
        ("torch", "PyTorch 2.15 jit"),
        ("theirs", "theirs 4.2 jit"),
    ],
)
def test_a_heading_has_the_version_of_the_framework(framework, name):
    (label,) = labels_of([result(framework, RECORDED[framework])]).values()
    assert label.text == name


def test_other_peoples_names_are_those_that_the_run_has():
    cell = Cell("theirs", "theirs", "jit", "gemm", "tiny", "float32", "cpu", 1)
    run = Manifest(planned=(cell,), frameworks={"theirs": FrameworkNames("Theirs", "their-package")})
    (found,) = results_of([Record(cell, 0, 1, "ok", versions={"theirs": "1.0", "their-package": "4.2.1"})], run)
    assert labels_of([found])[cell.column].text == "Theirs 4.2 jit"
    excluded = replace(run, planned=(), excluded=((cell, "not this one"),))
    assert labels_of(analyse([], excluded).results)[cell.column].text == "Theirs jit"
    # What a run stores never renames one of ours.
    assert names_of("torch", {"torch": FrameworkNames("Theirs", "their-package")}).product == "PyTorch"


def test_a_line_of_versions_has_other_peoples_names():
    names = FrameworkNames("Theirs", "their-package")
    found = [
        replace(result("theirs", {"their-package": version}, f"theirs-{version}"), stored_names=names)
        for version in ("1.2", "1.1")
    ]
    (line,) = lines_of(found, {})
    assert ([release.version for release in line.releases], line.product) == (["1.1", "1.2"], "Theirs")


def test_the_graphs_of_two_versions_of_tensorflow_are_versions_of_one_framework():
    found = [
        result("tensorflow1", {"tensorflow": version}, environment, "session")
        for environment, version in (("tf2-session", "2.21.0"), ("tf1", "1.15.5"))
    ]
    assert columns_before(found) == {"tf2-session:session": "tf1:session"}
    (line,) = lines_of(found, {})
    assert [release.version for release in line.releases] == ["1.15.5", "2.21.0"]


def test_a_kept_run_has_the_version_of_every_cell_that_was_imported(tmp_path):
    described = manifest.read(LIBRARIES)
    assert described is not None
    (path,) = results_csv.write(report.make(journal.read(LIBRARIES), described), tmp_path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    versions = {row["environment"]: row["version"] for row in rows if row["step_s"]}
    expected = {"haiku": "0.0.17", "tf1": "1.15.5", "tf2-session": "2.21.0", "tflite": "2.3.0", "flax": "0.12.8"}
    assert expected.items() <= versions.items()
    assert all(versions.values())
