"""Tests whether an exchanged component explains a change, by simulated pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.host.statistics.attribution import Part, judge_exchange

SIZE = math.log(1.04)


def judged(level, seed, *, size=SIZE, spread=0.0125):
    """Return what is found where the exchanged release lies at ``level``, and after how many pairs."""
    random = np.random.default_rng(seed)
    pairs = np.empty(0)
    while isinstance(more := judge_exchange(pairs, size), int):
        pairs = np.concatenate([pairs, level + random.normal(0.0, spread, more)])
    return more, len(pairs)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_component_is_acquitted_or_found_and_never_mistaken(sign):
    acquitted = [judged(sign * SIZE, seed, size=sign * SIZE)[0] for seed in range(100)]
    found = [judged(0.0, seed, size=sign * SIZE)[0] for seed in range(100)]
    assert Part.IT not in acquitted
    assert Part.NOT_IT not in found
    assert acquitted.count(Part.NOT_IT) >= 95
    assert found.count(Part.IT) >= 95


def test_half_of_a_change_is_neither():
    assert [judged(SIZE / 2.0, seed)[0] for seed in range(20)].count(Part.UNCLEAR) >= 19


def test_a_large_change_needs_few_pairs():
    assert judged(math.log(1.5), 1, size=math.log(1.5))[1] <= 12
