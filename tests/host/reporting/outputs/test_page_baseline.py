"""Tests that the page speaks of one baseline at a time: the study's, with findings, or one that the reader chose."""

from __future__ import annotations

import re
from dataclasses import replace

import browser
import pytest
from pages import data_of, page_of

from bench.host.reporting import report
from bench.host.reporting.outputs import page_html
from bench.host.study.baseline import BEST

pytestmark = [pytest.mark.browser, pytest.mark.long]

SWITCHED = "The numbers below compare with JAX 2.15 jit: ratios of medians, without intervals and verdicts."
JAX = "baseline=jax%3Ajit"


def part(text: str, name: str) -> str:
    """Return what a reader sees in a part of the page."""
    found = re.search(rf'<(\w+) id="{name}">(.*?)</\1>\s*(<main|<section|</main|<footer|<dialog)', text, re.DOTALL)
    assert found is not None
    return browser.shown(found[2])


def choose(remote, column: str) -> None:
    remote.value(f"""(() => {{
      const select = document.getElementById('baseline');
      select.value = '{column}';
      select.dispatchEvent(new Event('change'));
    }})()""")


def test_the_findings_give_way_to_what_the_numbers_are_with_another_baseline_and_return(tmp_path, long_study, remote):
    path = page_of(long_study, tmp_path)
    findings = [*data_of(path)["answer"], data_of(path)["compared"]]
    assert len(findings) > 2
    remote.open(path.as_uri())
    before = remote.value("document.getElementById('top').innerText")
    assert all(text in before for text in findings)
    assert "ratios of medians" not in before
    choose(remote, "jax:jit")
    after = remote.value("document.getElementById('top').innerText")
    assert not [text for text in findings if text in after]
    assert remote.value("document.querySelector('.answer').textContent") == SWITCHED
    run = data_of(path)["run"]["name"]
    command = remote.value("document.querySelector('#top code').textContent.trim()")
    assert command == f"nox -s report -- --run {run} --baseline jax:jit"
    remote.value("document.querySelector('#top .back').click()")
    assert remote.value("document.getElementById('top').innerText") == before
    choose(remote, "jax:jit")
    reset = "[...document.querySelectorAll('.controls .plain')].pop().click()"
    remote.value(reset)
    assert remote.value("document.getElementById('top').innerText") == before


def test_the_command_for_another_baseline_makes_the_same_part_of_the_same_run_in_the_same_place(
    tmp_path, long_study, remote
):
    chosen_by = (("", "reports/a run"), ("workload", "mlp-*"), ("to", "paper"))
    (path,) = page_html.write(report.make(long_study.records, long_study.manifest, chosen_by=chosen_by), tmp_path)
    remote.open(path.as_uri())
    choose(remote, "jax:jit")
    assert remote.value("document.querySelector('#top code').textContent.trim()") == (
        "nox -s report -- 'reports/a run' --workload 'mlp-*' --to paper --baseline jax:jit"
    )


def test_what_holds_with_any_baseline_stays(tmp_path, long_study, chromium):
    long_study.end("tf2:xla", "mlp-train", "unsupported", "import", "not here")
    long_study.change("jax:eager", "mlp-train", other_load=0.9)
    path = page_of(long_study, tmp_path)
    top = part(chromium.dump(path, JAX), "top")
    (failed,) = data_of(path)["lasting"]
    assert failed == "Without a time: 1 unsupported; the reasons are in the details."
    for text in (SWITCHED, failed, "The machine was busy: 1 of ", data_of(path)["conditions"]):
        assert text in top
    assert "Fastest on average" not in top


def test_marks_that_rest_on_the_studys_baseline_are_neither_shown_nor_explained_with_another(
    tmp_path, long_study, chromium
):
    path = page_of(long_study, tmp_path)
    study, other = chromium.dump(path), chromium.dump(path, JAX)
    for text in ("different, certain at 1%", "Lines show intervals; "):
        assert text in browser.shown(study)
        assert text not in browser.shown(other)
    assert 'class="whisker"' in study
    assert 'class="whisker"' not in other
    assert "*" not in part(other, "table")


def test_a_ratio_of_medians_is_noisy_where_one_of_its_times_is(tmp_path, long_study, chromium):
    for number, record in enumerate(long_study.records):
        if (record.cell.column, record.cell.workload) == ("tf2:eager", "mlp-train"):
            long_study.records[number].sample_ns[:] = [ns * (1 + record.round % 5) for ns in record.sample_ns]
    path = page_of(long_study, tmp_path)

    def marked(address: str) -> set[str]:
        entries = re.findall(
            r'data-key="1/([^"]*)">[^<]*<span class="mark">([^<]*)</span>', chromium.dump(path, address)
        )
        return {column for column, mark in entries if "~" in mark or "^" in mark}

    assert "tf2:eager" in marked(JAX)
    assert "jax:eager" not in marked(JAX)
    # Its own time is the baseline of all.
    assert {"jax:eager", "tf2:eager"} <= marked("baseline=tf2%3Aeager")


def test_a_ratio_of_medians_is_not_called_firm(tmp_path, long_study, chromium):
    path, cell = page_of(long_study, tmp_path), "cell=1%2Ftf2%3Axla"
    assert "clean: firm enough for its conclusion" in browser.shown(chromium.dump(path, cell))
    assert "clean: firm enough" not in browser.shown(chromium.dump(path, f"{JAX}&{cell}"))


def test_notes_on_the_ratio_to_the_studys_baseline_are_shown_with_that_alone(tmp_path, long_study, chromium):
    long_study.run["study"]["baseline"] = "torch2:eager"
    long_study.end("torch2:eager", "mlp-train", "failed", "first-call", "boom")
    path, cell = page_of(long_study, tmp_path), "cell=1%2Ftorch1%3Aeager"
    note = "no ratio: the status of the baseline is failed"
    assert note in browser.shown(chromium.dump(path, cell))
    assert note not in browser.shown(chromium.dump(path, f"{JAX}&{cell}"))


@pytest.mark.parametrize("baseline", ["torch1:eager", BEST])
def test_no_note_says_that_the_baseline_lacks_a_baseline(tmp_path, long_study, baseline):
    long_study.run["study"]["baseline"] = baseline
    assert not any("no ratio" in text for text in data_of(page_of(long_study, tmp_path))["texts"])


def test_where_the_study_compares_with_no_column_the_findings_stay_and_the_numbers_are_explained(
    tmp_path, long_study, chromium
):
    long_study.run["study"]["baseline"] = BEST
    path = page_of(long_study, tmp_path)
    top = part(chromium.dump(path), "top")
    assert data_of(path)["answer"][0] in top
    assert "Speed-ups are over the best of its row." in top
    assert "The numbers below compare with PyTorch 1.13 eager: ratios of medians" in top
    assert "Back to" not in top


def test_the_command_for_another_baseline_names_the_study_and_the_direction(tmp_path, long_study, chromium):
    long_study.run["study"] |= {"file": "studies/a b.toml", "ratios": "ratio"}
    top = part(chromium.dump(page_of(long_study, tmp_path), JAX), "top")
    assert "--baseline jax:jit --matrix 'studies/a b.toml' --ratios ratio" in top


def test_the_downloaded_ratios_name_their_baseline(tmp_path, long_study, remote):
    remote.open(f"{page_of(long_study, tmp_path).as_uri()}#{JAX}")
    heading, row, *_others = remote.value("""(async () => {
      let found;
      URL.createObjectURL = (blob) => { found = blob; return 'blob:none'; };
      document.querySelector('footer button').click();
      return found.text();
    })()""").splitlines()
    assert row.split(",")[heading.split(",").index("ratio_to")] == "torch1:eager"


@pytest.mark.parametrize("width", [390, 1300])
def test_axes_of_panels_stand_below_each_other_and_no_name_is_cut(tmp_path, long_study, remote, width):
    remote.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 561)
    long_study.records = [one for one in long_study.records if one.cell.column != "tf2:xla" or one.round % 2]
    for address in ("", f"#{JAX}"):
        remote.open(page_of(long_study, tmp_path).as_uri() + address)
        panels = remote.value("""[...document.querySelectorAll('.panel')].map((panel) =>
          [panel, panel.querySelector('.line.one')].map((one) => one.getBoundingClientRect().left))""")
        assert len(panels) == 4
        assert len({round(line - left) for left, line in panels}) == 1
        cut = "[...document.querySelectorAll('.bars .label')].filter((one) => one.scrollWidth > one.clientWidth).length"
        assert remote.value(cut) == 0
        assert remote.value("document.documentElement.scrollWidth") <= width
    remote.call("Emulation.clearDeviceMetricsOverride")


def test_no_word_in_place_of_a_speed_up_and_no_long_name_moves_an_axis_or_is_cut(tmp_path, long_study, remote):
    long_study.end("jax:jit", "dispatch", "unsupported", "build", "not here")
    long_study.records = [
        replace(r, cell=replace(r.cell, mode="compile-reduce-overhead")) if r.cell.mode == "compile" else r
        for r in long_study.records
    ]
    remote.open(page_of(long_study, tmp_path).as_uri())
    lines = remote.value("""[...document.querySelectorAll('.panel')].map((panel) =>
      panel.querySelector('.line.one').getBoundingClientRect().left - panel.getBoundingClientRect().left)""")
    assert len({round(line) for line in lines}) == 1
    assert "unsupported" in remote.value("document.getElementById('chart').textContent")
    cut = "[...document.querySelectorAll('.bars .label')].filter((one) => one.scrollWidth > one.clientWidth).length"
    assert remote.value(cut) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_of_the_table_have_the_contrast_of_text(tmp_path, long_study, remote, scheme):
    remote.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    remote.open(page_of(long_study, tmp_path).as_uri())
    marks = "[...document.querySelectorAll('tbody td:not(.muted) .mark')]"
    seen = f"[...new Set({marks}.map((one) => getComputedStyle(one).color))]"
    text = "getComputedStyle(document.body).color"
    assert remote.value(seen) == [remote.value(text)]
    remote.call("Emulation.setEmulatedMedia", features=[])
