"""Tests the bisection of releases by simulation: planted changes are found, and none where there is none.

The noise is that of METHOD: the log ratio of a pair of processes has a standard deviation of 1 to 1.5 %, with heavy
tails and single bad pairs; besides, no release is exactly as fast as another one.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.host.statistics import bisection
from bench.host.statistics.bisection import Change, Measure, NoChange, Undecided

RELEASES = 12


class Simulation:
    """Releases with a planted change, and what measuring them costs."""

    def __init__(self, at: int | None, size: float, seed: int, *, spread: float = 0.0125, own: float = 0.002) -> None:
        self.random = np.random.default_rng((seed, at or 0))
        self.levels = self.random.normal(0.0, own, RELEASES)
        if at is not None:
            self.levels[at:] += math.log1p(size)
        self.spread = spread
        self.pairs: dict[tuple[int, int], np.ndarray] = {}

    def measure(self, wanted: Measure) -> None:
        # Student's t with five degrees of freedom, scaled to the spread; one pair of 33 is bad.
        noise = self.spread * math.sqrt(3 / 5) * self.random.standard_t(5, wanted.pairs)
        noise += np.where(self.random.random(wanted.pairs) < 0.03, self.random.normal(0.0, 0.1, wanted.pairs), 0.0)
        key = wanted.release, wanted.reference
        new = self.levels[wanted.release] - self.levels[wanted.reference] + noise
        self.pairs[key] = np.concatenate([self.pairs.get(key, np.empty(0)), new])

    def bisect(self, *, faster: bool = False) -> bisection.Step:
        while isinstance(step := bisection.next_step(RELEASES, self.pairs, faster=faster), Measure):
            self.measure(step)
        return step

    @property
    def environments(self) -> int:
        return len({release for key in self.pairs for release in key})


def bisections(size: float, *, spread: float = 0.0125) -> list[tuple[int, bisection.Step, int]]:
    """Bisect 20 times; the change is in each place in turn."""
    found = []
    for number in range(20):
        at = 1 + number % (RELEASES - 1)
        simulation = Simulation(at, size, number, spread=spread)
        found.append((at, simulation.bisect(), simulation.environments))
    return found


@pytest.mark.parametrize(("size", "least"), [(0.05, 20), (0.02, 19)])
@pytest.mark.parametrize("spread", [0.010, 0.015])
def test_a_planted_slowdown_is_found_where_it_is_and_nowhere_else(size, least, spread):
    found = bisections(size, spread=spread)
    right = [step.release == at for at, step, _ in found if isinstance(step, Change)]
    assert all(right)
    assert len(right) >= least
    # What is not found is said to be open, not absent.
    assert not [step for _, step, _ in found if isinstance(step, NoChange) and step.settled]


def test_few_environments_are_built():
    found = bisections(0.05)
    assert np.median([environments for *_, environments in found]) <= 2 * math.log2(RELEASES) + 1


def test_without_a_slowdown_none_is_found():
    found = [Simulation(None, 0.0, number).bisect() for number in range(20)]
    assert all(isinstance(step, NoChange) for step in found)


def test_the_interval_of_the_change_covers_it():
    found = [(math.log1p(0.05), step) for _, step, _ in bisections(0.05) if isinstance(step, Change)]
    covered = [
        math.log(step.ratio.deciding[0]) - 0.006 < size < math.log(step.ratio.deciding[1]) + 0.006
        for size, step in found
    ]
    assert all(covered)


def test_a_speed_up_is_found_by_its_own_direction_only():
    assert Simulation(7, -0.06, 1).bisect(faster=True).release == 7
    assert isinstance(Simulation(7, -0.06, 1).bisect(), NoChange)
    assert isinstance(Simulation(7, 0.06, 1).bisect(faster=True), NoChange)


def test_it_goes_back_where_later_pairs_contradict_an_earlier_step():
    """The first pairs of release 5 say "slow", by bad luck; the truth is a change at 9."""
    simulation = Simulation(9, 0.05, 3, own=0.0)
    simulation.measure(Measure(11, 0, 12))
    simulation.pairs[5, 0] = np.full(4, 0.05)
    step = simulation.bisect()
    assert isinstance(step, Change)
    assert step.release == 9
    assert len(simulation.pairs[5, 0]) > 4


def test_of_a_change_in_two_steps_one_is_found_with_its_own_size():
    for seed in range(10):
        simulation = Simulation(None, 0.0, seed, own=0.001)
        simulation.levels += np.array([0.0] * 4 + [0.03] * 4 + [0.06] * 4)
        step = simulation.bisect()
        assert isinstance(step, Change)
        assert step.release in (4, 8)
        assert step.ratio.deciding[0] < math.exp(0.03) < step.ratio.deciding[1]


def test_a_release_that_bends_the_first_step_is_left_open_with_its_bounds():
    """A slow rise over all releases has no first step that pairs could show."""
    simulation = Simulation(None, 0.0, 4, own=0.0)
    simulation.levels += np.linspace(0.0, 0.03, RELEASES)
    step = simulation.bisect()
    assert isinstance(step, Undecided)
    assert step.after < step.until <= RELEASES - 1


def test_two_releases_need_no_bisection():
    pairs = {(1, 0): np.full(8, 0.05) + np.linspace(-0.01, 0.01, 8)}
    step = bisection.next_step(2, pairs)
    while isinstance(step, Measure):
        assert (step.release, step.reference) == (1, 0)
        pairs[1, 0] = np.concatenate([pairs[1, 0], np.full(step.pairs, 0.05) + np.linspace(-0.01, 0.01, step.pairs)])
        step = bisection.next_step(2, pairs)
    assert isinstance(step, Change)
    assert step.release == 1
    with pytest.raises(ValueError, match="1 releases have no change"):
        bisection.next_step(1, {})


def test_the_same_pairs_give_the_same_step():
    simulation = Simulation(6, 0.05, 5)
    simulation.bisect()
    half = {key: values[: max(1, len(values) // 2)] for key, values in simulation.pairs.items()}
    assert bisection.next_step(RELEASES, half) == bisection.next_step(RELEASES, dict(reversed(half.items())))
