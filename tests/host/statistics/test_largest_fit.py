"""Tests the search for the largest size that fits."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from bench.host.statistics.largest_fit import EXACT_BELOW, TOLERANCE, largest_fit


def counted(fits: Callable[[int], bool]) -> tuple[Callable[[int], bool], list[int]]:
    tried: list[int] = []

    def ask(size: int) -> bool:
        tried.append(size)
        return fits(size)

    return ask, tried


@given(st.integers(0, 5000), st.integers(1, 300), st.integers(1, 4096))
def test_the_largest_is_found_exactly_or_nearly_and_no_size_is_tried_twice(limit, start, most):
    fits, tried = counted(lambda size: size <= limit)
    found = largest_fit(fits, start, most)
    best = min(limit, most)
    assert found <= best
    assert found == best if best < EXACT_BELOW else found >= best / (1 + TOLERANCE) - 1
    assert len(tried) == len(set(tried)) <= 24
    assert all(1 <= size <= most for size in tried)


def test_few_attempts_are_made():
    fits, tried = counted(lambda size: size <= 1000)
    assert 980 <= largest_fit(fits, 32, 1 << 20) <= 1000
    assert tried[:6] == [32, 64, 128, 256, 512, 1024]
    assert len(tried) <= 12


@given(st.sets(st.integers(1, 500)), st.integers(1, 64))
def test_what_is_not_monotonic_still_gives_a_size_that_fitted(fitting, start):
    fits, tried = counted(lambda size: size in fitting)
    found = largest_fit(fits, start, 400)
    assert found in fitting or found == 0
    assert found in tried or found == 0
    larger = [size for size in tried if size > found]
    assert not any(fits(size) for size in larger)
