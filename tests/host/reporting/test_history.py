"""What is reported of versions: the tables, the files, the figures, and that no word escapes the catalogue."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from pseudo_language import escaped
from releases import MEMBERS, VERSIONS, Releases
from rich.console import Console

from bench.host.analysis.release_values import Quantity
from bench.host.analysis.release_verdicts import Step, VersionVerdict
from bench.host.reporting import history
from bench.host.reporting.figures import style, versions
from bench.host.reporting.outputs import versions_csv
from bench.host.reporting.renderers import figure_files
from bench.host.reporting.words.history import format_change, format_percent
from bench.host.reporting.words.language import writing_in
from bench.host.statistics.bootstrap import Estimate
from bench.host.statistics.pairs import Ratio

COLUMNS = (Path(__file__).parents[3] / "docs" / "columns.md").read_text()
PLANTED = {"gemm": (1.0, 1.0, 1.05, 1.0), "mlp-train": (1.0, 0.8, 0.8, 0.8)}


def made(run=None):
    run = run or Releases(PLANTED)
    return history.make(run.records, run.manifest, MEMBERS)


def printed(report, width=80, **options):
    console = Console(file=io.StringIO(), width=width)
    report.print(console, **options)
    return console.file.getvalue()


def rows_of(report):
    return list(csv.DictReader(io.StringIO(versions_csv.render(report.history))))


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(1.041, 1.032, 1.05, 16), "+4.1% [3.2, 5.0]"),
        (Estimate(0.98, 0.97, 1.004, 16), "−2.0% [−3.0, 0.4]"),
        (Estimate(1.0001, 0.9999, 1.0002, 16), "0.0% [0.0, 0.0]"),
        (Estimate(2.3, 1.9, 2.7, 16), "+130% [90, 170]"),
        (Estimate(4.0 / 3.0, 4.0 / 3.0, 4.0 / 3.0, 16), "+33.3%"),
        (Estimate(1.5, None, None, 1), "+50.0%"),
    ],
)
def test_a_ratio_is_written_as_a_difference_in_percent(estimate, text):
    assert format_percent(estimate) == text


@pytest.mark.parametrize(
    ("interval", "deciding", "p", "change", "text"),
    [
        ((1.54, 1.69), (1.5, 1.7), 0.0125, VersionVerdict.UNCLEAR, "+60.5% [54.0, 69.0] unclear (p 1.3%)"),
        ((1.54, 1.69), (1.5, 1.7), 0.01004, VersionVerdict.UNCLEAR, "+60.5% [54.0, 69.0] unclear (p 1.1%)"),
        ((1.54, 1.69), (0.9, 1.7), 0.301, VersionVerdict.UNCLEAR, "+60.5% [54.0, 69.0] unclear (p 31%)"),
        ((1.54, 1.69), (1.5, 1.7), 0.002, VersionVerdict.UNCLEAR, "+60.5% [54.0, 69.0] unclear (too small)"),
        ((1.54, 1.69), (0.9, 1.7), 0.002, VersionVerdict.UNCLEAR, "+60.5% [54.0, 69.0] unclear"),
        ((0.99, 1.69), (0.9, 1.7), 0.0125, VersionVerdict.UNCLEAR, "+60% [−1, 69] unclear"),
        ((1.54, 1.69), (1.5, 1.7), 0.002, VersionVerdict.MORE, "+60.5% [54.0, 69.0] slower"),
        ((1.54, 1.69), None, None, None, "+60.5% [54.0, 69.0]"),
    ],
)
def test_an_unclear_difference_whose_interval_excludes_equality_says_why(interval, deciding, p, change, text):
    """It stood above a smaller one that was slower, and nothing said what made the two different."""
    ratio = Ratio(Estimate(1.605, *interval, 16), p or 1.0, deciding)
    release = next(iter(made().history.courses)).points[0].release
    assert format_change(Step(release, ratio, p, change), Quantity.STEP) == text


def test_the_table_says_at_each_version_what_changed():
    lines = printed(made(), details=True).splitlines()
    third = next(line for line in lines if line.startswith("1.11.0"))
    assert re.fullmatch(r"1\.11\.0 +1\.\d+ +\+\d\.\d% \[\d\.\d, \d\.\d\] slower +\+.* slower *", third)
    assert any(re.fullmatch(r"1\.9\.0 +1\.\d+ +baseline *", line) for line in lines)


def test_the_answer_comes_first_a_row_per_workload_a_column_per_version():
    lines = printed(made()).splitlines()
    rows = [line.split() for line in lines if line.startswith(tuple(PLANTED))]
    assert [row[0] for row in rows] == list(PLANTED)
    gemm, mlp = (row[3:] for row in rows)
    assert re.fullmatch(r"\S+%≈ \+[45]\.\d%\* \S+%≈", " ".join(gemm))
    assert re.fullmatch(r"−20\.\d%\* −20\.\d%\* −20\.\d%\*|−19\.\d%\* −19\.\d%\* −19\.\d%\*", " ".join(mlp))
    text = " ".join(" ".join(lines).split())
    assert "PyTorch 2.0.0 eager against 1.9.0, of 2 rows: faster in 1 and the same in 1." in text
    assert re.search(r"Largest slowdowns from a version to the next: gemm eager with 1\.11\.0: \+[45]\.\d% \[", text)
    assert "* different, certain at 1%; ≈ equal within 2%" in text


def test_the_answer_counts_rows_in_which_the_newest_version_has_no_time():
    run = Releases(PLANTED)
    run.fail("2.0.0", "no wheel")
    text = " ".join(printed(made(run)).split())
    assert "failedᵃ" in text
    assert "ᵃ failed in environment: no wheel" in text
    assert "PyTorch 2.0.0 eager against the oldest version, of 2 rows: without a time in 2." in text


def test_a_newest_version_that_is_the_baseline_is_not_compared_with_itself():
    run = Releases(PLANTED)
    text = printed(history.make(run.records, run.manifest, MEMBERS, against="2.0.0"))
    assert "of 2 rows" not in text


def test_all_columns_of_the_answer_and_of_the_times_fit_into_80_columns():
    report = made(Releases(PLANTED, modes=("eager", "compile")))
    text = printed(report)
    assert max(map(len, text.splitlines())) <= 80
    assert "Too narrow" not in text.partition("Environments of")[0]
    times = printed(report, details=True).partition("cold call")[0]
    assert "than the version before" in times
    assert "Too narrow" not in times


def test_the_costs_are_printed_on_request():
    assert "cold call" not in printed(made())
    assert "cold call" in printed(made(), details=True)


def test_first_calls_memory_and_break_even_are_compared_with_both_versions():
    text = printed(made(), details=True)
    change = r"\+\d+\.\d% \[\d+\.\d, \d+\.\d\] slower"
    assert re.search(rf"1\.10\.0 +\d{{3}} +{change} +{change}", text)
    assert re.search(r"2\.0\.0 +200 +\+33\.3% larger", text)
    assert re.search(r"1\.10\.0 +\d+ +\d+ +\d+ \[\d+, \d+\] +\d+ \[\d+, \d+\]", text)
    assert max(map(len, text.splitlines())) <= 80


def test_a_version_that_failed_says_so_in_every_table():
    run = Releases(PLANTED)
    run.fail("1.10.0", "no wheel")
    run.change("1.10.0", import_s=None, first_call_s=None, memory={})
    run.run["environments"]["torch-1.10.0"] = {}
    report = made(run)
    for table in report.tables:
        if table.title == "Break-even":
            continue
        for group in table.groups:
            row = next(row for row in group.rows if row[0].text == "1.10.0")
            words = [entry for entry in row if entry.text == "failed"]
            assert words, table.name
            assert all("no wheel" in entry.notes[0] for entry in words)


def test_a_version_that_failed_has_its_row_with_the_reason_and_the_next_says_what_it_is_compared_with():
    run = Releases(PLANTED)
    run.fail("1.10.0", "no wheel of torch 1.10.0 for Python 3.11")
    text = " ".join(printed(made(run), details=True).split())
    assert "1.10.0 failedᵃ" in text
    assert "ᵃ failed in environment: no wheel of torch 1.10.0 for Python 3.11" in text
    assert "ᵇ compared with 1.9.0: the version before has no time" in text


def test_a_setting_that_changed_with_a_version_is_said_at_it():
    run = Releases(PLANTED)
    run.change("1.9.0", settings={"threads": 2, "instruction set": "AVX2"})
    for version in VERSIONS[1:]:
        run.change(version, settings={"threads": 2, "instruction set": "AVX512"})
    text = " ".join(printed(made(run), details=True).split())
    assert text.count("instruction set changed from AVX2 to AVX512") == 1
    assert re.search(r"1\.10\.0 [\d.]+ \S+ \[[^]]*\] sameᵃ", text)


def test_too_few_rounds_are_said_with_the_number_that_is_needed():
    text = " ".join(printed(made(Releases(PLANTED, rounds=9))).split())
    assert "This run has 9 rounds. Among 10 comparisons a difference can be significant from 11 rounds on" in text
    assert "This run has" not in printed(made())


@pytest.mark.parametrize(("look", "needed"), [(8, 11), (11, 12)])
def test_differences_whose_cells_settled_early_say_what_makes_them_certain(look, needed):
    """-54.7 % was unclear beside +13.9 % that was certain, and nothing said why."""
    run = Releases(PLANTED, rounds=20)
    run.records = [r for r in run.records if r.round < look or r.cell.workload == "mlp-train"]
    stops = (("gemm", look, "settled"), ("mlp-train", 20, "most rounds"))
    stopped = {f"{name}/small/float32/cpu": {"rounds": rounds, "why": why} for name, rounds, why in stops}
    run.run |= {"looks": [look, 15, 20], "stopped": stopped}
    text = " ".join(printed(made(run)).split())
    assert "3 differences are not certain because cells stopped early: the profile ends a cell when its" in text
    assert f"A fixed number of rounds, {needed} or more, can make them certain." in text
    assert "few rounds" not in printed(made())


def test_one_row_is_one_row():
    text = " ".join(printed(made(Releases({"gemm": PLANTED["gemm"]}))).split())
    assert "of 1 row: " in text


def test_a_change_of_the_interpreter_is_said():
    text = " ".join(printed(made()).split())
    assert "From 1.11.0 to 2.0.0 Python changes, too, from 3.10 to 3.12" in text


def test_the_files_are_written_and_a_figure_of_an_earlier_report_is_removed(tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "versions-gone.png").touch()
    (tmp_path / "figures" / "speedups.png").touch()
    paths = {str(path.relative_to(tmp_path)) for path in made().write(tmp_path)}
    drawn = {f"figures/versions-{name}.{ending}" for name in PLANTED for ending in ("pdf", "svg", "png")}
    assert paths == {"versions.csv", "versions.md", "versions.tex"} | drawn
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")} == paths | {"figures/speedups.png"}
    assert "| 1.11.0 " in (tmp_path / "versions.md").read_text()
    assert r"\toprule" in (tmp_path / "versions.tex").read_text()


def test_the_data_have_every_version_against_both_and_every_column_is_described():
    rows = rows_of(made())
    steps = [row for row in rows if row["quantity"] == "step_s" and row["workload"] == "gemm"]
    assert [(row["version"], row["against"], row["verdict"]) for row in steps] == [
        ("1.9.0", "", ""),
        ("1.10.0", "before", "same"),
        ("1.10.0", "baseline", "same"),
        ("1.11.0", "before", "slower"),
        ("1.11.0", "baseline", "slower"),
        ("2.0.0", "before", "faster"),
        ("2.0.0", "baseline", "same"),
    ]
    assert float(steps[3]["ratio"]) == pytest.approx(1.05, rel=0.005)
    fastest = next(row for row in rows if row["workload"] == "mlp-train" and row["verdict"] == "faster")
    steps = [float(fastest[f"warm_break_even_{name}"]) for name in ("low", "steps", "high")]
    assert steps == sorted(steps)
    assert steps[1] == pytest.approx(375.0, rel=0.1)
    assert {row["cold_break_even_steps"] for row in rows if row["quantity"] != "step_s"} == {""}
    assert {row["verdict"] for row in rows if row["quantity"] == "disk_bytes"} == {"", "same", "larger", "smaller"}
    assert set(versions_csv.FIELDS) <= set(re.findall(r"`([a-z0-9_]+)`", COLUMNS))


def test_the_data_are_the_same_in_every_language(pseudo):
    with writing_in(pseudo):
        other = versions_csv.render(made().history)
    assert other == versions_csv.render(made().history)


def test_no_word_of_the_report_escapes_the_catalogue(pseudo):
    run = Releases(PLANTED)
    run.fail("1.10.0", "no wheel")
    data = {value for record in run.records for value in (*vars(record.cell).values(), *record.versions)}
    data |= {"no wheel", "environment", "PyTorch NumPy Python", "MiB GB", str(run.run)}
    with writing_in(pseudo):
        text = printed(made(run), details=True)
    assert text.count("⟦") > 40
    assert escaped(" ".join(text.split()), data) == set()


def test_a_figure_has_a_panel_for_each_mode_and_marks_that_differ_in_shape():
    found = versions.by_workload(made(Releases(PLANTED, modes=("eager", "compile"))).history)
    assert list(found) == list(PLANTED)
    with figure_files.settings():
        figure = versions.draw(found["gemm"])
    assert [axes.get_title().partition(":")[0] for axes in figure.axes] == ["eager", "compile"]
    assert figure.texts[0].get_text().startswith("gemm: how much longer a step takes than with 1.9.0")
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == list(VERSIONS)
    assert figure.get_size_inches()[0] <= style.TEXT_WIDTH
    markers = [line.get_marker() for line in figure.axes[0].lines]
    assert {"^", "v", "s"} <= set(markers)
    assert len({marker for marker, _hollow in versions.LOOKS.values()}) == len(versions.LOOKS)


def test_the_figure_shows_the_effects_with_their_intervals():
    (course,) = versions.by_workload(made(Releases({"gemm": PLANTED["gemm"]})).history)["gemm"]
    with figure_files.settings():
        axes = versions.draw([course]).axes[0]
    third = course.points[2].baseline.ratio.estimate
    bars = [line.get_ydata() for line in axes.lines if list(line.get_xdata()) == [2, 2]]
    assert [list(bar) for bar in bars] == [[pytest.approx(100 * (b - 1)) for b in (third.low, third.high)]]


def test_a_version_without_a_time_is_a_cross():
    run = Releases(PLANTED)
    run.fail("1.10.0", "no wheel")
    with figure_files.settings():
        axes = versions.draw(versions.by_workload(made(run).history)["gemm"]).axes[0]
    assert [list(line.get_xdata()) for line in axes.lines if line.get_marker() == "x"] == [[1]]
