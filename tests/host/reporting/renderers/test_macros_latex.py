"""Tests the commands by which the text of a paper cites numbers of a run."""

from __future__ import annotations

import re

import pytest
from papers import macros_of, macros_text, written

from bench.host.reporting import report


def test_where_everything_is_withheld_each_command_is_a_comment_with_the_reason(tmp_path, long_study):
    written(long_study, tmp_path)
    names = set(macros_of(tmp_path))
    long_study.change(other_load=0.9)
    written(long_study, tmp_path)
    assert macros_of(tmp_path) == {}
    assert set(re.findall(r"^% withheld: \\(\w+) \(", macros_text(tmp_path), re.M)) == names


def test_commands_have_names_of_letters_and_cite_the_numbers(tmp_path, long_study):
    written(long_study, tmp_path)
    found = macros_of(tmp_path)
    assert all(re.fullmatch("bm[A-Za-z]+", name) for name in found)
    assert found["bmTimeMlpTrainTorchOneEager"].endswith(r"\,ms")
    assert float(found["bmExactSpeedupMlpTrainJaxJit"]) == pytest.approx(1 / 0.55, rel=0.05)
    assert found["bmIntervalMlpTrainJaxJit"].startswith("{[}1.")
    assert "bmSpeedupGeometricMeanJaxJit" in found
    assert "bmSpeedupMlpTrainTorchOneEager" not in found


def test_a_number_has_the_digits_of_the_table(tmp_path, long_study):
    """A text said 1.853 where the table beside it said 1.9."""
    long_study.slow("jax:jit", "mlp-train", 0.018)
    # A certain difference near 1 has three digits there.
    long_study.slow("torch2:compile", "mlp-train", 1.05 * 0.8)
    shown = written(long_study, tmp_path)
    found, made = macros_of(tmp_path), report.make(long_study.records, long_study.manifest)
    columns = ["TorchOneEager", "TorchOneTorchscript", "TorchTwoEager", "TorchTwoCompile"]
    rows = {"dispatch": "Dispatch", "mlp-train": "MlpTrain", "catdog-cnn-train": "CatdogCnnTrain"}
    for row in made.speed_up_table.groups[0].rows:
        numbers = [re.sub("[*≈~^]", "", entry.text) for entry in row[1 : 1 + len(columns)]]
        name = rows.get(row[0].text, "GeometricMean")
        kinds = ["Time" if number == 0 else "Speedup" for number in range(len(columns))]
        commands = [found.get(f"bm{kind}{name}{column}", "") for kind, column in zip(kinds, columns, strict=True)]
        assert [text.replace(r"\,", " ").replace(r"\ensuremath{\mu}", "µ") for text in commands] == numbers
        assert all(number.replace(" ", r"\,").replace("µ", r"$\mu$") in shown for number in numbers)


@pytest.mark.parametrize("factor", [0.005, 0.8, 1.03, 13.0, 240.0])
def test_an_exact_number_has_three_digits_and_lies_within_its_cited_interval(tmp_path, long_study, factor):
    long_study.slow("jax:jit", "mlp-train", factor)
    long_study.slow("torch2:compile", "dispatch", 1 / factor)
    written(long_study, tmp_path)
    found = macros_of(tmp_path)
    intervals = {name: text for name, text in found.items() if name.startswith("bmInterval")}
    assert len(intervals) > 10
    for name, text in intervals.items():
        shown = found[name.replace("Interval", "ExactSpeedup", 1)]
        low, high = map(float, text.removeprefix("{[}").removesuffix("]").split(", "))
        assert low <= float(shown) <= high
        assert len(shown.replace(".", "").lstrip("0")) >= 3
    means = [text for name, text in found.items() if name.startswith("bmExactSpeedupGeometricMean")]
    times = [text.partition(r"\,")[0] for name, text in found.items() if name.startswith("bmExactTime")]
    assert means
    assert times
    assert all(len(text.replace(".", "").lstrip("0")) >= 3 for text in (*means, *times))


def test_commands_named_speed_ups_stay_so_where_tables_show_ratios_which_have_commands_of_their_own(
    tmp_path, long_study
):
    long_study.slow("jax:jit", "mlp-train", 100.0)
    written(long_study, tmp_path)
    commands = macros_of(tmp_path)
    assert not [name for name in commands if "Ratio" in name]
    long_study.run["study"]["ratios"] = "ratio"
    text = written(long_study, tmp_path)
    found = macros_of(tmp_path)
    assert {name: found[name] for name in commands} == commands
    assert float(commands["bmExactSpeedupMlpTrainJaxJit"]) == pytest.approx(0.018, rel=0.05)
    assert "ratio" in text
    for name, value in commands.items():
        if name.startswith("bmExactSpeedup"):
            assert float(found[name.replace("Speedup", "Ratio")]) == pytest.approx(1 / float(value), rel=0.01)
    low, high = map(float, found["bmRatioIntervalMlpTrainJaxJit"].removeprefix("{[}").removesuffix("]").split(", "))
    assert low <= float(found["bmExactRatioMlpTrainJaxJit"]) <= high
    assert f"& {found['bmRatioMlpTrainJaxJit']}" in text


def test_a_ratio_that_is_withheld_has_no_command(tmp_path, long_study):
    long_study.run["study"]["ratios"] = "ratio"
    long_study.change("jax:jit", "mlp-train", other_load=0.9)
    written(long_study, tmp_path)
    assert "bmRatioMlpTrainJaxJit" not in macros_of(tmp_path)
    assert r"% withheld: \bmRatioMlpTrainJaxJit (other programs were computing)" in macros_text(tmp_path)
