"""Tests that the page of a report in time ratios shows these everywhere, and that lines of many columns differ."""

from __future__ import annotations

import re
from dataclasses import replace

import browser
import pytest
from pages import cells_of, data_of, page_of

from bench.host.reporting import report

pytestmark = [pytest.mark.browser, pytest.mark.long]


def in_ratios(study):
    study.run["study"]["ratios"] = "ratio"
    return study


def entry_of(text: str, key: str) -> tuple[str, str]:
    """Return the number and the background of an entry of the table."""
    found = re.search(rf'<td style="background:([^"]*)"><button[^>]*data-key="{key}">([^<]*)', text)
    assert found is not None
    return found[2], found[1]


def test_chart_table_and_details_show_time_ratios(tmp_path, long_study, chromium):
    path = page_of(in_ratios(long_study), tmp_path)
    found = cells_of(data_of(path))["mlp-train", "jax:jit"]
    assert found["ratio"] == pytest.approx(0.55, rel=0.05)
    text = chromium.dump(path, "cell=1%2Fjax%3Ajit")
    shown = browser.shown(text)
    number, background = entry_of(text, "1/jax:jit")
    assert number == f"{found['ratio']:.2f}"
    assert "--faster" in background
    details = re.search(r"<dt>time ratio</dt><dd>([\d.]+) \[([\d.]+), ([\d.]+)\]</dd>", text)
    assert [float(one) for one in details.groups()] == [
        pytest.approx(found[name], abs=0.006) for name in ("ratio", "ratioLow", "ratioHigh")
    ]
    for said in ("Time over that of PyTorch 1.13 eager", "Lower is faster.", "Ratios are times over those of"):
        assert said in shown
    for absent in ("Speed-up over", "Higher is faster", "times as fast", "Speed-ups are", "speed-ups "):
        assert absent not in shown.replace("a speed-up is its inverse", "")


def test_the_means_are_those_of_the_tables(tmp_path, long_study, chromium):
    table = report.make(in_ratios(long_study).records, long_study.manifest).main
    expected = [entry.text for entry in table.groups[0].rows[-1][2:]]
    footer = re.search(r"<tfoot>.*?</tfoot>", chromium.dump(page_of(long_study, tmp_path)), re.DOTALL)
    assert sorted(re.findall(r"<span>([^<]*)", footer[0])) == sorted(expected)
    assert min(map(float, expected)) < 1.0


def test_another_baseline_gives_ratios_of_medians_too(tmp_path, long_study, chromium):
    path = page_of(in_ratios(long_study), tmp_path)
    found = cells_of(data_of(path))
    expected = found["mlp-train", "torch1:eager"]["step"] / found["mlp-train", "jax:jit"]["step"]
    assert expected > 1.5
    number, background = entry_of(chromium.dump(path, "baseline=jax%3Ajit"), "1/torch1:eager")
    assert number == f"{expected:.1f}"
    assert "--slower" in background


def test_the_first_click_on_a_column_puts_the_fastest_row_first(tmp_path, long_study, remote):
    long_study.slow("jax:jit", "dispatch", 4.0)
    for ratios in ("speedup", "ratio"):
        long_study.run["study"]["ratios"] = ratios
        remote.open(page_of(long_study, tmp_path).as_uri())
        remote.value("document.querySelector('[data-key=\"sort jax:jit\"]').click()")
        rows = remote.value("[...document.querySelectorAll('#table tbody tr')].map((one) => one.cells[0].textContent)")
        assert rows[-1] == "dispatch"


@pytest.mark.parametrize("figure", ["breakEven", "roofline"])
def test_lines_and_marks_of_many_columns_of_a_framework_differ(tmp_path, long_study, figure, chromium):
    long_study.records += [
        replace(r, cell=replace(r.cell, mode=f"{r.cell.mode}-{number}"))
        for number in range(8)
        for r in long_study.records
        if r.cell.column == "torch2:eager"
    ]
    rates = {"flops_per_s": {"float32": 1e11}, "bandwidths": [[1e6, 1e11], [1e9, 2e10]]}
    long_study.run["peaks"] = {"torch1/cpu": rates}
    text = chromium.dump(page_of(long_study, tmp_path), f"figure={figure}")
    (key,) = re.findall(r'<p class="legend">(.*?)</p>', text, re.DOTALL)
    looks = re.findall(r"<path [^>]*>", key)
    assert len(looks) == len(data_of(tmp_path / "report.html")["columns"]) == 16
    assert len(set(looks)) == len(looks)
