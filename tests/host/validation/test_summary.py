"""Tests how trials are judged: a planted slowdown is found, identical cells are not told apart, and all is counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.cell import Cell
from bench.host.statistics import stopping
from bench.host.statistics.verdict import Verdict
from bench.host.validation import summary
from bench.host.validation.trial import Pair, Trial, TrialData

CELL = Cell("numpy", "numpy", "eager", "gemm", "tiny", "float32", "cpu", 1)
LOOKS = stopping.looks(12, 40)


def trial_data(
    number: int, slowdown: float, *, effect: float | None = None, rounds: int = 40, noise: float = 0.003
) -> TrialData:
    random = np.random.default_rng(number)
    effect = slowdown if effect is None else effect
    pairs = []
    for index in range(rounds):
        cell = 1000.0 * np.exp(random.normal(0.0, noise, 5))
        twin = 1000.0 * (1.0 + effect) * np.exp(random.normal(0.0, noise, 5))
        pairs.append(Pair(index, tuple(cell), tuple(twin)))
    return TrialData(Trial(number, CELL, slowdown), slowdown, rounds, LOOKS, tuple(pairs), 20.0)


def test_a_planted_slowdown_is_found_and_no_difference_is_not():
    planted, same = (summary.judge(trial_data(1, slowdown)) for slowdown in (0.02, 0.0))
    assert planted.found
    assert not same.found
    assert same.verdict is Verdict.EQUIVALENT


def test_a_slowdown_that_comes_out_as_a_speed_up_is_not_found():
    assert not summary.judge(trial_data(1, 0.02, effect=-0.03)).found


def test_a_false_alarm_counts_in_either_direction():
    assert summary.judge(trial_data(1, 0.0, effect=-0.05)).found
    assert summary.judge(trial_data(1, 0.0, effect=0.05)).found


def test_only_the_rounds_that_were_measured_are_looked_at():
    few = summary.judge(trial_data(1, 0.05, rounds=LOOKS[0] - 1))
    assert few.ratio is not None
    assert few.verdict is None


@pytest.mark.parametrize(("disturbed", "found"), [(40, False), (39, True)])
def test_a_comparison_that_a_table_withholds_is_no_false_alarm(disturbed, found):
    """Of each pair one process was disturbed: so half of those of one cell were, or more."""
    data = trial_data(2, 0.0, effect=0.05)
    pairs = tuple(replace(pair, disturbed=number < disturbed) for number, pair in enumerate(data.pairs))
    (group,) = summary.group_trials([replace(data, pairs=pairs), trial_data(1, 0.0)])
    assert (group.found.count, group.found.of) == (int(found), 2 if found else 1)
    assert ("is withheld, as in a table" in summary.describe([group])) is not found
    assert ("is a false alarm" in summary.describe([group])) is found


def test_the_table_counts_every_trial_once_and_names_what_went_wrong():
    failed = TrialData(Trial(7, CELL, 0.0), 0.0, 10, LOOKS, (), 1.0, "failed in import: boom")
    groups = summary.group_trials([trial_data(1, 0.0), trial_data(2, 0.0, effect=0.05), failed, trial_data(3, 0.02)])
    text = summary.describe(groups)
    same = groups[0]
    assert (same.slowdown, len(same.trials), same.found.count) == (0.0, 3, 1)
    assert same.count(None) == 1
    assert sum(same.count(verdict) for verdict in (*Verdict, None)) == 3
    assert "Trial 7 (numpy:eager gemm/tiny/float32/cpu) has no verdict: failed in import: boom." in text
    assert "Trial 2 (numpy:eager gemm/tiny/float32/cpu) is a false alarm: ratio 1.0" in text
    assert "2% more work" in text


def test_the_noise_is_the_tail_of_the_ratios_between_identical_cells():
    group = summary.group_trials([trial_data(number, 0.0) for number in range(30)])[0]
    noise = summary.noise_quantile(group)
    assert noise is not None
    assert 0.0 < noise < 0.005


def test_bounds_are_exact():
    group = summary.group_trials([trial_data(number, 0.02, effect=0.03) for number in range(59)])[0]
    assert group.found.count == 59
    assert group.found.low == pytest.approx(0.025 ** (1 / 59))


def test_rates_that_refute_the_promise_are_told():
    def broken(stored):
        return summary.broken_promises(summary.group_trials(stored))

    assert (
        broken([trial_data(number, 0.0) for number in range(20)] + [trial_data(number, 0.02) for number in range(20)])
        == []
    )
    # One of a hundred is what the level allows; nine of twenty are not.
    assert broken([trial_data(number, 0.0, effect=0.05 * (number == 0)) for number in range(100)]) == []
    assert broken([trial_data(number, 0.0, effect=0.05 * (number < 9)) for number in range(20)]) == [
        "Too many false alarms: identical cells are called different in more than 1% of comparisons."
    ]
    assert broken([trial_data(number, 0.02, effect=0.02 * (number > 8)) for number in range(20)]) == [
        "Too little power: of slowdowns by 2%, fewer than 95% are found."
    ]


def test_what_could_not_be_measured_is_no_proof_of_silence():
    failed = TrialData(Trial(7, CELL, 0.0), 0.0, 10, LOOKS, (), 1.0, "failed in import: boom")
    (same,) = summary.group_trials([trial_data(1, 0.0), failed])
    assert same.found.of == 1
    (planted,) = summary.group_trials([trial_data(1, 0.02), replace(failed, trial=Trial(7, CELL, 0.02))])
    assert (planted.found.count, planted.found.of) == (1, 2)
    (nothing,) = summary.group_trials([failed])
    assert summary.describe([nothing])
    assert summary.broken_promises([nothing]) == [
        "Not validated: none of the comparisons with nothing (A/A) could be measured."
    ]


def test_what_the_numbers_prove_is_said():
    same = [trial_data(number, 0.0) for number in range(20)]
    text = summary.describe(summary.group_trials([*same, *(trial_data(number, 0.05) for number in range(10))]))
    assert f"at most {1 - 0.05 ** (1 / 20):.2%} of identical cells are called different." in text
    assert f"at least {0.05 ** (1 / 10):.1%} of slowdowns by 5% are found." in text


def test_identical_cells_are_looked_at_before_any_rule():
    """A bias of half a percent is equivalent in every trial, and told all the same."""
    (fair,) = summary.group_trials([trial_data(number, 0.0) for number in range(40)])
    (biased,) = summary.group_trials([trial_data(number, 0.0, effect=0.005) for number in range(40)])
    assert biased.count(Verdict.EQUIVALENT) == 40
    text = summary.calibration(biased)
    assert text.startswith("Of 40 comparisons of identical cells")
    assert "40 of 40 above 1" in text
    assert "p ≤ 1% in 40" in text
    assert max(trial.first_p for trial in fair.trials) > 0.3


def test_what_was_really_planted_is_in_the_table():
    made = [replace(trial_data(number, 0.02), planted=planted) for number, planted in enumerate((0.0198, 0.0203))]
    assert "2% more work (1.98% to 2.03%)" in summary.describe(summary.group_trials(made))
