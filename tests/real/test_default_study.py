"""Tests cells of the default study in their real environments: at the check size, and trainings at a timed one.

``nox -s grid`` checks all of them with one thread as a part of the full study: see
``tests/frameworks/test_full_study.py``.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from bench.host import environments
from bench.host.measuring.study_run import StudyRun
from bench.host.project import STATE
from bench.host.storage import journal
from bench.host.study import selection, study_file
from bench.host.study.plan import Plan
from bench.host.study.schema import Study
from bench.record import FAILED, OK, Record

ROOT = Path(__file__).resolve().parents[2]
#: Modes that are no columns of the default study, and must be correct all the same.
OTHER_MODES = {"tf2": ("eager",), "jax": ("eager",)}


def with_all_modes(study: Study) -> Study:
    environments = {
        name: each.model_copy(update={"modes": (*OTHER_MODES.get(name, ()), *each.modes)})
        for name, each in study.environments.items()
    }
    return study.model_copy(update={"environments": environments})


DEFAULT = study_file.load(ROOT / "matrix.toml")
STUDY = with_all_modes(DEFAULT)


def select(
    study: Study,
    precision: str,
    environments: Sequence[str],
    modes: Sequence[str] = (),
    threads: int | None = None,
    workloads: Sequence[str] = (),
    sizes: Sequence[str] = (),
) -> Plan:
    chosen = selection.Selection(
        environments, modes, workloads, sizes, precisions=[precision], profile="check", threads=threads
    )
    return selection.select(study, chosen)


#: Workloads that nox -s tests checks: a product, and a training.
FEW = ("gemm", "mlp-train")
#: {a part of the study that is measured in one run: its cells}
PLANS = {
    # With one thread each processor checks a cell of its own.
    "few": select(DEFAULT, "float32", DEFAULT.settings.default, threads=1, workloads=FEW),
    "all_threads": select(DEFAULT, "float32", DEFAULT.settings.default),
    # The same installations with a library that is loaded before PyTorch.
    "preloaded": select(DEFAULT, "float32", ["torch1-mkl", "torch2-mkl"], threads=1, workloads=FEW),
    # A size that is timed: its draws are others, and may have near-ties that float32 decides otherwise than float64.
    "small": select(
        DEFAULT,
        "float32",
        DEFAULT.settings.default,
        ["eager", "function", "xla", "jit"],
        workloads=["*-train"],
        sizes=["small"],
    ),
    "op_by_op": select(STUDY, "float32", list(OTHER_MODES), ["eager"]),
    "bfloat16": select(STUDY, "bfloat16", DEFAULT.settings.default),
    # PyTorch 1.13 has next to no kernels for it.
    "float16": select(STUDY, "float16", [name for name in DEFAULT.settings.default if name != "torch1"]),
}
#: Where compiled code stays from one invocation to the next; trials and the tests of adapters use it, too.
CACHES = ROOT / STATE / "compile-caches"
#: Where float64 references stay.
REFERENCES = ROOT / STATE / "references"
#: Below a run: the run of what failed in it, of so many cells at most.
AGAIN, MOST_AGAIN = "again", 5
pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("default:failed once")]


def part(name: str, *values: object, id: str | None = None) -> object:
    """Return the parameters of a test of one part of the study: the parts are measured side by side."""
    marks = [pytest.mark.xdist_group(f"study-{name}"), *([] if name == "few" else [pytest.mark.long])]
    return pytest.param(name, *values, marks=marks, id=id or name)


every_part = pytest.mark.parametrize("part_name", [part(name) for name in PLANS])


def measure(checkout: Path, plan: Plan, caches: Path | None = None) -> Path:
    """Run a plan in a temporary checkout; return the folder of the run. Compiled code stays in ``caches``, if given."""
    (checkout / STATE).mkdir(exist_ok=True)
    for kept in filter(None, (REFERENCES, caches)):
        kept.mkdir(parents=True, exist_ok=True)
        (checkout / STATE / kept.name).symlink_to(kept)
    prepared = {}
    for name in {cell.environment for cell in plan.cells}:
        # The session does not prepare what shares an installation.
        if STUDY.environments[name].lock:
            environments.prepare(STUDY.environments[name], root=ROOT, announce=print)
        outcome = environments.load_outcome(name, root=ROOT)
        assert outcome is not None, f"environment {name} is not prepared: run this through nox -s tests"
        assert outcome.status == OK, f"environment {name}: {outcome.reason}"
        prepared[name] = outcome
    with (checkout / "out.txt").open("w") as out:
        run = StudyRun(checkout, STUDY, plan, prepared, Console(file=out, width=200))
        run.measure(fresh=True)
    return run.folder


def measure_part(name: str, checkout: Path) -> Path:
    """Measure a part of the study, and again what failed: a full disk may be over then, a wrong cell fails twice."""
    folder = measure(checkout, PLANS[name], CACHES)
    failed = [record for record in journal.read(folder) if record.status == FAILED]
    # A crash is no disturbance, and where much has failed it is not by chance.
    if 0 < len(failed) <= MOST_AGAIN and not any("killed by" in str(record.reason) for record in failed):
        told = "; ".join(f"{record.cell.name}: {record.stage}: {record.reason}" for record in failed)
        warnings.warn(f"failed once: {told}", stacklevel=2)
        again = dataclasses.replace(PLANS[name], cells=tuple(dict.fromkeys(record.cell for record in failed)))
        (checkout / AGAIN).mkdir()
        (folder / AGAIN).symlink_to(measure(checkout / AGAIN, again, CACHES))
    return folder


def fixture_of(name: str) -> object:
    """Make the fixture of a part; one with a parameter would run the study anew for every test."""

    @pytest.fixture(scope="module", name=name)
    def measured(tmp_path_factory) -> Path:
        return measure_part(name, tmp_path_factory.mktemp("checkout"))

    return measured


few, all_threads, preloaded, small, op_by_op, bfloat16, float16 = map(fixture_of, PLANS)


@pytest.fixture
def folder(request, part_name) -> Path:
    """The folder of the one run of this part."""
    return request.getfixturevalue(part_name)


@pytest.fixture
def records(folder: Path) -> dict[str, Record]:
    return read(folder)


@functools.cache
def read(folder: Path) -> dict[str, Record]:
    again = journal.read(folder / AGAIN) if (folder / AGAIN).exists() else []
    return {record.cell.name: record for record in (*journal.read(folder), *again)}


@pytest.mark.parametrize(
    ("part_name", "cell"),
    [part(name, cell, id=cell.name) for name, plan in PLANS.items() for cell in plan.cells],
)
def test_a_cell_is_correct_and_timed(records, part_name, cell):
    record = records[cell.name]
    assert record.status == OK, f"{record.stage}: {record.reason}"
    assert all(0 <= value["error"] <= value["allowed"] for value in record.check.values())
    samples = PLANS[part_name].profile.samples
    # On a busy machine up to half as many turns may repeat disturbed ones.
    assert record.sample_turn[:samples] == list(range(samples))
    assert len(record.sample_turn) <= samples + samples // 2
    assert len(record.sample_ns) == len(record.sample_cpu_ns) == len(record.sample_steps) == len(record.sample_turn)
    assert min(record.sample_ns) > 0
    assert record.first_call_s is not None
    assert record.first_call_s > 0
    assert record.settings["threads"] == cell.threads
    if cell.environment == "torch2" and cell.mode.startswith("compile"):
        assert record.settings["generated for"] != "no vector instructions"
    assert record.memory["peak_bytes"] > 0
    # On Intel's processors MKL uses its fast kernels with and without the library.
    if part_name == "preloaded":
        assert record.settings["LD_PRELOAD"] == "mkl_on_amd.so"
        assert "kernels for any processor" not in record.settings["BLAS"]


@pytest.mark.parametrize("framework", ["torch", "tensorflow", "jax"])
def test_every_workload_has_every_framework(framework):
    missing = {
        cell.workload
        for plan in PLANS.values()
        for cell, reason in plan.excluded
        if cell.framework == framework and "implementation" in reason
    }
    assert missing == set()


@every_part
def test_each_record_names_the_version_that_its_environment_pins(records):
    pins = {
        "torch1": ("torch", "1.13.1"),
        "torch2": ("torch", "2.15.0"),
        "tf2": ("tensorflow", "2.21.0"),
        "jax": ("jax", "0.10.2"),
    }
    for record in records.values():
        library, version = pins[record.cell.environment.removesuffix("-mkl")]
        assert record.versions[library].split("+")[0] == version


def share_installations(checkout: Path) -> None:
    """Share what an installation compiles once, such as headers, which is no part of a first call; no cell's code."""
    kept = checkout / STATE / CACHES.name / "kept"
    kept.mkdir(parents=True)
    for folder in {mark.parent for mark in CACHES.glob("kept/*/*.warm")}:
        if not (kept / folder.name).exists():
            (kept / folder.name).symlink_to(folder)


@pytest.mark.long
def test_compilation_is_slower_than_eager_to_start(tmp_path):
    """The first call of a compiled cell includes the compilation, where no code was compiled before."""
    share_installations(tmp_path)
    chosen = selection.Selection(
        ["torch2"], ["eager", "compile"], ["mlp-train"], precisions=["float32"], profile="check"
    )
    found = read(measure(tmp_path, selection.select(STUDY, chosen)))
    row = "mlp-train/check/float32/cpu"
    compiled = found[f"torch2:compile {row}"]
    assert compiled.first_call_cache == "cold"
    assert compiled.first_call_s > 5 * found[f"torch2:eager {row}"].first_call_s


@every_part
def test_the_report_is_there_and_names_every_environment(folder, part_name):
    text = (folder / "table.md").read_text()
    for cell in PLANS[part_name].cells:
        assert cell.environment in text
