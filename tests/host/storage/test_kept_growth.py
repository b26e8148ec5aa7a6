"""Tests which verifications of earlier runs count: those of a day, for the same code, installation and machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bench.cell import Cell
from bench.host.setup import staging
from bench.host.storage.kept_growth import FRESH_S, KeptGrowth

CELL = Cell("torch1", "torch", "eager", "gemm", "small", "float32", "cpu", 2)
SAME: dict[str, Any] = {
    "environments": {"torch1": "a lock"},
    "code": {("gemm", "torch"): "digest"},
    "machine": {"processor": "x"},
    "choices": {"seed": 1},
}


@pytest.fixture
def kept(tmp_path):
    """Open what is kept at a time, with other values than usual for some of what it depends on."""

    def opened(now_s: float = 1e9, **other: Any) -> KeptGrowth:
        return KeptGrowth(tmp_path / "growth", **{**SAME, **other}, clock=lambda: now_s)

    return opened


def test_a_verification_counts_for_a_day(kept):
    assert not kept().has(CELL)
    kept().keep(CELL)
    assert kept().has(CELL)
    assert kept(1e9 + FRESH_S - 1).has(CELL)
    assert not kept(1e9 + FRESH_S).has(CELL)
    assert not kept(1e9 - 1).has(CELL)


@pytest.mark.parametrize(
    "other",
    [
        {"environments": {"torch1": "another lock"}},
        {"code": {("gemm", "torch"): "edited"}},
        {"machine": {"processor": "y"}},
        {"choices": {"seed": 2}},
    ],
    ids=lambda other: next(iter(other)),
)
def test_it_does_not_count_where_anything_differs(kept, other):
    kept().keep(CELL)
    assert not kept(**other).has(CELL)


@pytest.mark.parametrize("other", [{"mode": "torchscript"}, {"size": "tiny"}, {"threads": 1}, {"device": "gpu"}])
def test_another_cell_is_not_verified(kept, other):
    kept().keep(CELL)
    assert not kept().has(replace(CELL, **other))


def test_a_twin_has_the_installation_of_its_original_and_is_a_cell_of_its_own(kept):
    twin = replace(CELL, environment="torch1~twin")
    kept().keep(CELL)
    assert not kept().has(twin)
    kept().keep(twin)
    assert kept().has(twin)


def test_what_was_dropped_is_verified_again(kept):
    kept().keep(CELL)
    kept().drop(CELL)
    kept().drop(CELL)
    assert not kept().has(CELL)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"verified_at": 1e9}', "null", '{"about": "x", "verified_at": "soon"}', "[" * 100_000]
)
def test_a_damaged_file_is_verified_again(kept, tmp_path, content):
    kept().keep(CELL)
    (path,) = (tmp_path / "growth").iterdir()
    path.write_text(content)
    assert not kept().has(CELL)
    kept().keep(CELL)
    assert kept().has(CELL)


def test_without_a_place_to_keep_it_a_run_goes_on(kept, monkeypatch):
    def full(*given):
        raise OSError("no space left on device")

    monkeypatch.setattr(staging.os, "replace", full)
    kept().keep(CELL)
    assert not kept().has(CELL)
