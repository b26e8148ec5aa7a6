"""Tests the sentences about single comparisons."""

from __future__ import annotations

import dataclasses

import pytest

from bench.host.analysis.results import Comparison
from bench.host.analysis.run_analysis import analyse
from bench.host.reporting.words.comparisons import Naming, clearest_comparisons, every_comparison
from bench.host.reporting.words.labels import labels_of
from bench.host.statistics.bootstrap import Estimate
from bench.host.statistics.pairs import Ratio


@pytest.mark.parametrize(
    ("low", "value", "high", "said"),
    [
        (0.9, 1.0, 1.1, "is neither clearly faster nor slower [0.91, 1.11]."),
        (0.4, 0.5, 0.6, "is 2.0 times as fast [1.7, 2.5]."),
        (1.4, 1.5, 1.6, "takes 1.50 times as long [1.40, 1.60]."),
    ],
)
def test_a_ratio_whose_interval_contains_equality_is_called_neither_faster_nor_slower(
    short_study, low, value, high, said
):
    analysis = analyse(short_study.records, short_study.manifest)
    result = next(one for one in analysis.results if one.ratio is not None)
    estimate = dataclasses.replace(result.ratio.estimate, low=low, value=value, high=high)
    ratio = dataclasses.replace(result.ratio, estimate=estimate)
    result = dataclasses.replace(result, comparison=dataclasses.replace(result.comparison, ratio=ratio))
    assert result.verdict is None
    found = every_comparison([result], Naming(labels_of(analysis.results), {result.cell: "gemm"}, {}), 9)
    assert found[0].startswith("gemm: ")
    assert found[0].endswith(said)


def test_without_verdicts_only_what_is_clear_among_all_comparisons_is_told(short_study):
    """The clearest of 35 equal cells was told as a difference in four of five tables."""
    analysis = analyse(short_study.records, short_study.manifest)
    one = next(each for each in analysis.results if each.ratio is not None)
    cells = {name: dataclasses.replace(one.cell, workload=name) for name in ("faster", *map(str, range(20)))}
    results = [
        dataclasses.replace(one, cell=cell, comparison=Comparison(Ratio(Estimate(value, low, high, 3), 1.0, None)))
        for name, cell in cells.items()
        for low, value, high in [(0.3, 0.33, 0.36) if name == "faster" else (0.95, 0.97, 0.99)]
    ]
    naming = Naming(labels_of(analysis.results), {cell: name for name, cell in cells.items()}, {})
    told = [line.partition(":")[0] for line in clearest_comparisons(results, naming, 9)]
    assert told == ["faster"]
    assert clearest_comparisons(results[1:], naming, 9) == []
    # Of one comparison there is no choice.
    assert len(clearest_comparisons(results[1:2], naming, 9)) == 1


def test_the_clearest_difference_comes_first(short_study):
    """A row without a difference stood above the largest one, in the largest letters of the page."""
    analysis = analyse(short_study.records, short_study.manifest)
    one = next(each for each in analysis.results if each.ratio is not None)
    cells = {name: dataclasses.replace(one.cell, workload=name) for name in ("unclear", "slower", "faster", "fastest")}
    intervals = ((0.9, 1.1), (2.0, 2.2), (0.5, 0.6), (0.2, 0.3))
    results = []
    for cell, (low, high) in zip(cells.values(), intervals, strict=True):
        estimate = dataclasses.replace(one.ratio.estimate, low=low, value=(low * high) ** 0.5, high=high)
        comparison = dataclasses.replace(one.comparison, ratio=dataclasses.replace(one.ratio, estimate=estimate))
        results.append(dataclasses.replace(one, cell=cell, comparison=comparison))
    naming = Naming(labels_of(analysis.results), {cell: name for name, cell in cells.items()}, {})
    told = [line.partition(":")[0] for line in every_comparison(results, naming, 9)]
    assert told == ["fastest", "faster", "slower", "unclear"]
