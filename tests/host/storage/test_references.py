"""Tests when a float64 reference is computed again."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.cell import Cell
from bench.host.storage.references import References
from bench.host.workers.protocol import Ended
from bench.registry import BENCH, Registry, Source

ROOT = Path(__file__).resolve().parents[3]
TOY = ROOT / "tests" / "extensions" / "toy"
OURS = Cell("here", "numpy", "eager", "mlp-train", "check", "float32", "cpu", 1)
THEIRS = Cell("here", "numpy", "eager", "saxpy", "check", "float32", "cpu", 1)


@pytest.fixture
def references(tmp_path):
    """Return the references of a copy of our code and of other people's."""
    ignored = shutil.ignore_patterns("host", "__pycache__")
    shutil.copytree(BENCH.folder, tmp_path / "bench", ignore=ignored)
    shutil.copytree(TOY, tmp_path / "mine", ignore=ignored)
    registry = Registry(tuple(Source(name, str(tmp_path / name)) for name in ("bench", "mine")))
    return References(tmp_path, tmp_path / "references", 1, 1, registry)


def edit(path: Path) -> None:
    path.write_text(path.read_text() + "# edited\n")


@pytest.mark.parametrize(
    ("cell", "file"),
    [
        (OURS, "bench/workloads/mlp_train/__init__.py"),
        (OURS, "bench/workloads/layers.py"),
        (OURS, "bench/differentiation/rules.py"),
        (OURS, "bench/differentiation/tape.py"),
        (OURS, "bench/worker/checking/parity.py"),
        (OURS, "bench/worker/checking/optimizers.py"),
        (THEIRS, "bench/differentiation/rules.py"),
        (THEIRS, "mine/workloads/saxpy/__init__.py"),
    ],
)
def test_code_that_defines_what_is_right_is_part_of_the_name(references, tmp_path, cell, file):
    before = references.path(cell, None)
    edit(tmp_path / file)
    assert references.path(cell, None) != before


@pytest.mark.parametrize(
    ("cell", "file"),
    [
        (OURS, "bench/workloads/mlp_train/numpy.py"),
        (OURS, "bench/workloads/transformer.py"),
        (OURS, "bench/frameworks/numpy/adapter.py"),
        (THEIRS, "mine/workloads/saxpy/toy.py"),
        (THEIRS, "mine/frameworks/toy/adapter.py"),
    ],
)
def test_an_implementation_does_not_define_what_is_right(references, tmp_path, cell, file):
    before = references.path(cell, None)
    edit(tmp_path / file)
    assert references.path(cell, None) == before


def test_a_changed_file_in_a_folder_of_the_data_asks_for_another_reference(references, tmp_path):
    """Images lie in a folder for each class; the reference of the old ones stayed, and the cell was a mismatch."""
    image = tmp_path / "data" / "cats" / "1.png"
    image.parent.mkdir(parents=True)
    image.write_bytes(b"one")
    before = references.path(OURS, str(tmp_path / "data"))
    assert references.path(OURS, str(tmp_path / "data")) == before
    image.write_bytes(b"another")
    assert references.path(OURS, str(tmp_path / "data")) != before


def test_data_beside_a_specification_define_what_is_right(references, tmp_path):
    before = references.path(THEIRS, None)
    (tmp_path / "mine" / "workloads" / "saxpy" / "numbers.csv").write_text("1,2\n")
    assert references.path(THEIRS, None) != before


def test_the_seed_is_part_of_the_name(references, tmp_path):
    other = References(tmp_path, references.folder, 2, 1, references.registry)
    assert other.path(OURS, None) != references.path(OURS, None)


def test_of_two_who_need_a_reference_at_once_one_computes_it(references, monkeypatch):
    computed = []
    path = references.path(OURS, None)
    # Python 3.11 cannot parse source in two threads.
    monkeypatch.setattr(References, "path", lambda *_: path)

    def compute(self, cell, data, path):
        computed.append(path)
        # Meanwhile the other one comes to the lock.
        time.sleep(0.2)
        np.savez(path, loss=1.0)

    monkeypatch.setattr(References, "_compute", compute)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda cell: references.ensure(cell, None), [OURS, OURS])
    assert computed == [first] == [second]
    assert list(references.folder.iterdir()) == [first]


@pytest.mark.parametrize(
    "damage", [lambda whole: b"", lambda whole: whole[: len(whole) // 2], lambda whole: b"x" * 999]
)
def test_a_reference_that_was_cut_off_is_computed_again(tmp_path, damage):
    """Every later run failed at it, and no message named the file."""
    references = References(ROOT, tmp_path, 1, 1)
    path = references.ensure(OURS, None)
    whole, right = path.read_bytes(), contents(path)
    path.write_bytes(damage(whole))
    assert contents(references.ensure(OURS, None)) == right


OTHER = replace(OURS, workload="gemm")


def contents(path: Path) -> dict[str, bytes]:
    with np.load(path) as stored:
        return {name: stored[name].tobytes() for name in stored.files}


def test_references_in_advance_are_the_same(tmp_path):
    one, all_at_once = (References(ROOT, tmp_path / name, 1, 1) for name in ("one", "all"))
    with all_at_once.ahead([(OURS, None), (OURS, None), (OTHER, None)]):
        pass
    for cell in (OURS, OTHER):
        made = all_at_once.path(cell, None)
        assert contents(made) == contents(one.ensure(cell, None))
        assert all_at_once.ensure(cell, None) == made
    assert len(list(all_at_once.folder.iterdir())) == 2


def test_nothing_starts_where_all_references_are_there(tmp_path, monkeypatch):
    references = References(ROOT, tmp_path, 1, 1)
    references.ensure(OURS, None)
    monkeypatch.setattr(References, "_start", lambda *_: pytest.fail("a process started"))
    with references.ahead([(OURS, None)]):
        pass


def test_a_reference_that_fails_in_advance_is_reported_by_its_row(references, tmp_path):
    (tmp_path / "mine" / "workloads" / "saxpy" / "__init__.py").write_text("raise RuntimeError('broken')\n")
    with references.ahead([(THEIRS, None)]):
        pass
    with pytest.raises(Ended, match="broken"):
        references.ensure(THEIRS, None)


def test_an_interruption_does_not_wait_for_references(tmp_path, monkeypatch):
    references = References(ROOT, tmp_path, 1, 1)
    started = []
    start = References._start
    monkeypatch.setattr(References, "_start", lambda *given: started.append(start(*given)) or started[0])
    with pytest.raises(KeyboardInterrupt), references.ahead([(OURS, None)]):
        raise KeyboardInterrupt
    assert started[0]._process.returncode is not None
    assert not (tmp_path / "ahead.log").exists()


def test_in_advance_a_processor_is_left_to_what_is_done_beside(tmp_path, monkeypatch):
    started = []

    def start(self, log, threads):
        started.append(threads)
        raise Ended("failed", "start", "only asked")

    monkeypatch.setattr(References, "_start", start)
    references = References(ROOT, tmp_path, 1, 3)
    with references.ahead([(OURS, None)]):
        pass
    with pytest.raises(Ended):
        references.ensure(OURS, None)
    assert started == [2, 3]
