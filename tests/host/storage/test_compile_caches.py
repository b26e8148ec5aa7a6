"""Tests whose compiled code a cell finds."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.cell import Cell
from bench.host.storage import compile_caches, source_files
from bench.host.storage.compile_caches import CompileCaches
from bench.host.storage.file_names import slug
from bench.registry import Registry, Source

ROOT = Path(__file__).resolve().parents[3]
A = Cell("torch2", "torch", "compile", "gemm", "tiny", "float32", "cpu", 2)
B = replace(A, workload="mlp-train")


@pytest.fixture
def code(tmp_path):
    """Copy what a worker imports to a folder that a test may edit."""
    shutil.copytree(ROOT / "bench", tmp_path / "bench", ignore=shutil.ignore_patterns("host", "worker", "__pycache__"))
    return tmp_path / "bench"


def edit(path: Path) -> None:
    path.write_text(path.read_text() + "# edited\n")


@pytest.fixture
def caches(tmp_path, code):

    def make(run: str, *, kept: bool, lock: str = "abc", manifest: Any = None, **options: Any) -> CompileCaches:
        registry = Registry((Source("bench", str(tmp_path / "bench")),))
        manifests = {"torch2": manifest or {"lock_hash": lock}}
        return CompileCaches(tmp_path / "caches", run, kept, manifests, registry, **options)

    return make


def test_a_cold_cache_is_each_cells_own_and_each_runs_own(caches):
    first = caches("r1", kept=False)
    assert first.state(A) == "cold"
    first.fill(A)
    assert (first.state(A), first.state(B), caches("r2", kept=False).state(A)) == ("warm", "cold", "cold")
    assert first.variables(A) != first.variables(B)
    first.drop()
    assert first.state(A) == "cold"


@pytest.mark.parametrize("run", ["", ".", "..", "../..", "/"])
def test_dropping_the_caches_of_a_run_of_any_name_removes_nothing_else(caches, tmp_path, run):
    """A description of a run that has no name, or is called "..", removed the caches of all runs, or all of .nox."""
    other = caches("r1", kept=False)
    other.fill(A)
    caches(run, kept=False).fill(A)
    caches(run, kept=False).drop()
    assert (other.state(A), caches(run, kept=False).state(A)) == ("warm", "cold")
    assert [path.name for path in (tmp_path / "caches").iterdir()] == ["r1"]


def test_a_kept_cache_stays_between_runs_and_is_shared_but_a_cell_knows_its_own(caches):
    first = caches("r1", kept=True)
    first.fill(A)
    first.drop()
    again = caches("r2", kept=True)
    assert (again.state(A), again.state(B)) == ("warm", "cold")
    assert again.variables(A) == again.variables(B)
    assert caches("r2", kept=True, lock="other").state(A) == "cold"


@pytest.mark.parametrize(
    "other",
    [
        {"packages": {"torch": "2.6"}, "variables": {"CXX": "g++"}},
        {"packages": {"torch": "2.5"}, "variables": {"CXX": "g++-14"}},
    ],
)
def test_an_interpreter_without_a_lock_has_a_cache_for_what_is_installed_and_for_its_variables(caches, other):
    """Its upgrade, and another compiler, found what had been compiled before: first calls were called warm."""
    before = caches("r1", kept=True, manifest={"packages": {"torch": "2.5"}, "variables": {"CXX": "g++"}})
    before.fill(A)
    before.note_warm(A)
    after = caches("r2", kept=True, manifest=other)
    assert (before.state(A), before.is_warm(A)) == ("warm", True)
    assert (after.state(A), after.is_warm(A)) == ("cold", False)


def test_another_processor_has_another_cache(caches, monkeypatch):
    """Machines of a cluster may share the project; cloud machines hide the name, and tell the generation."""
    ours = caches("r1", kept=True)
    ours.fill(A)
    monkeypatch.setattr(compile_caches, "_processor", lambda: ["Xeon", "family 6, model 1"])
    assert caches("r2", kept=True).state(A) == "cold"


def test_what_a_trial_compiled_is_found_by_trials_only_in_a_folder_of_the_installation(caches):
    """Headers lie in the same folder, but PyTorch's compiler has other options in a trial, and so another header."""
    trial, other, measured = (caches(run, kept=True, trial=run != "r3") for run in ("r1", "r2", "r3"))
    trial.fill(A)
    trial.note_warm(A)
    assert (other.state(A), measured.state(A)) == ("warm", "cold")
    assert (other.is_warm(A), measured.is_warm(A)) == (True, False)
    differing = [name for name, path in measured.variables(A).items() if trial.variables(A)[name] != path]
    assert differing == ["TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"]


@pytest.mark.parametrize("kept", [True, False])
def test_what_a_failed_process_left_is_neither_cold_nor_warm(caches, kept):
    """It had compiled and then ended in another stage: the next first call was 'cold' and fast."""
    ours = caches("r1", kept=kept)
    ours.begin(A)
    assert (ours.state(A), ours.state(B)) == ("unsure", "cold")
    ours.fill(A)
    assert ours.state(A) == "warm"


def test_code_that_has_the_weights_in_it_is_unsure_for_others(caches):
    """After a change of the seed, the first call of max-autotune compiled, and was called warm."""
    frozen = replace(A, mode="compile-max-autotune")
    for cell in (frozen, A):
        caches("r1", kept=True, seed=1).begin(cell)
        caches("r1", kept=True, seed=1).fill(cell)
    other = caches("r2", kept=True, seed=2)
    assert (other.state(frozen), other.state(A)) == ("unsure", "warm")
    other.fill(frozen)
    assert (other.state(frozen), caches("r3", kept=True, seed=1).state(frozen)) == ("warm", "warm")


@pytest.mark.parametrize("kept", [True, False])
def test_paths_are_as_long_for_every_cell(caches, kept):
    """The environment of a process takes memory before anything else does."""
    names = ("a", "torch2", "torch2~twin", "an-environment-with-a-long-name")
    variables = [caches("r1", kept=kept).variables(replace(A, environment=name)) for name in names]
    assert len({tuple(map(len, found.values())) for found in variables}) == 1
    assert len({tuple(found.values()) for found in variables}) == len(names)


def test_an_edited_implementation_is_cold_again(caches, code):
    kept = caches("r1", kept=True)
    kept.fill(A)
    kept.fill(B)
    edit(code / "workloads" / "gemm" / "torch.py")
    assert (kept.state(A), kept.state(B)) == ("cold", "warm")


@pytest.mark.parametrize("shared", ["workloads/transformer.py", "frameworks/loaded.py", "frameworks/torch/programs.py"])
def test_an_edited_module_that_a_cell_imports_makes_it_cold_again(caches, code, shared):
    """transformer.py is imported by the specification, loaded.py by the adapter's settings."""
    cell = replace(A, workload="transformer-train")
    kept = caches("r1", kept=True)
    kept.fill(cell)
    edit(code / shared)
    assert kept.state(cell) == "cold"


def test_code_that_a_cell_does_not_use_leaves_it_warm(caches, code):
    kept = caches("r1", kept=True)
    kept.fill(A)
    shutil.copytree(code / "workloads" / "gemm", code / "workloads" / "gemm_again")
    shutil.copytree(code / "frameworks" / "torch", code / "frameworks" / "torch_again")
    for unused in (
        "workloads/transformer.py",
        "workloads/gemm/page.md",
        "workloads/gemm/jax.py",
        "frameworks/jax/adapter.py",
    ):
        edit(code / unused)
    assert kept.state(A) == "warm"


def test_names_never_become_paths():
    assert slug("../../etc", "a b/c:d") == "..-..-etc-a-b-c-d"


@pytest.mark.parametrize(("framework", "mode"), [("tensorflow", "xla"), ("torch", "eager"), ("numpy", "eager")])
def test_a_mode_that_keeps_nothing_on_disk_is_neither_cold_nor_warm(caches, framework, mode):
    cell = replace(A, framework=framework, mode=mode)
    first = caches("r1", kept=True)
    first.fill(cell)
    assert first.state(cell) is None


@pytest.mark.parametrize("kept", [True, False])
def test_what_torch_keeps_in_its_temporary_folder_belongs_to_the_installation(caches, kept):
    """Precompiled headers are the same for all programs; what is compiled of a program lies elsewhere."""
    folder = Path(caches("r1", kept=kept).variables(A)["TMPDIR"])
    assert folder.is_dir()
    for cell in (A, replace(A, workload="mlp-train"), replace(A, environment="torch2~twin")):
        assert folder == Path(caches("r2", kept=kept).variables(cell)["TMPDIR"])
    assert folder != Path(caches("r1", kept=kept).variables(replace(A, environment="other"))["TMPDIR"])
    assert folder not in Path(caches("r1", kept=kept).variables(A)["TORCHINDUCTOR_CACHE_DIR"]).parents
    assert "TMPDIR" not in caches("r1", kept=kept).variables(replace(A, framework="jax", mode="jit"))


@pytest.mark.parametrize("added", [b'x = "\xe9"\n', b"\x00", b"def\n"])
def test_a_file_that_python_cannot_read_has_no_imports(tmp_path, added):
    """Its import fails in the worker, which names the file; here it was a traceback."""
    mine = shutil.copytree(ROOT / "tests" / "extensions" / "toy", tmp_path / "mine")
    registry = Registry.of({"mine": str(mine)})
    path = mine / "workloads" / "saxpy" / "numpy.py"
    path.write_bytes(path.read_bytes() + added)
    assert path in source_files.of_cell(registry, "saxpy", "numpy")


def test_an_edited_file_of_other_people_makes_their_cells_cold_again(tmp_path):
    mine = shutil.copytree(ROOT / "tests" / "extensions" / "toy", tmp_path / "mine")
    registry = Registry.of({"mine": str(mine)})
    ours = Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1)
    theirs = replace(ours, framework="toy", environment="toy")

    def digests() -> list[str]:
        cells = (ours, theirs, replace(theirs, workload="saxpy"))
        return [
            source_files.digest(registry, source_files.of_cell(registry, cell.workload, cell.framework))
            for cell in cells
        ]

    before = digests()
    for file, changed in (
        ("workloads/gemm/toy.py", [False, True, False]),
        ("workloads/saxpy/__init__.py", [False, False, True]),
        ("frameworks/toy/adapter.py", [False, True, True]),
        ("frameworks/numpy/modes.py", [True, False, False]),
    ):
        edit(mine / file)
        after = digests()
        assert [one != other for one, other in zip(before, after, strict=True)] == changed
        before = after


def test_one_at_a_time_compiles_what_is_compiled_once_in_an_installation(caches):
    made = caches("r1", kept=True)
    inside, most = [], []

    def warm(_number: int) -> None:
        with made.warming(A):
            inside.append(A)
            most.append(len(inside))
            time.sleep(0.05)
            inside.pop()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(warm, range(3)))
    assert most == [1, 1, 1]
