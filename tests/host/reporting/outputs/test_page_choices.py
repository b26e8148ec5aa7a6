"""Tests what a reader does with the page: keys, choices, addresses, the download; and names that attack it."""

from __future__ import annotations

import csv
import io
import re
import string

import browser
import pytest
from pages import ATTACKS, ELEMENTS, cells_of, data_of, hostile, page_of

pytestmark = pytest.mark.browser


def test_keys_open_and_close_the_details_and_the_address_follows(tmp_path, long_study, remote):
    remote.open(page_of(long_study, tmp_path).as_uri())
    remote.value("document.querySelector('tbody td button').focus()")
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        remote.press(key)
    assert remote.value("document.getElementById('details').open")
    assert remote.value("location.hash") == "#cell=1%2Ftorch1%3Atorchscript"
    remote.press("Escape")
    assert remote.value("new Promise((done) => setTimeout(() => done(location.hash), 300))") == ""
    assert remote.value("document.activeElement.dataset.key") == "1/torch1:torchscript"


def test_a_choice_keeps_the_focus_and_changes_the_address(tmp_path, long_study, remote):
    remote.open(page_of(long_study, tmp_path).as_uri())
    remote.value("document.querySelector('.axis .chip').focus()")
    remote.press("Enter")
    assert remote.value("location.hash") == "#workload=dispatch"
    assert remote.value("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert remote.value("document.querySelectorAll('#table tbody tr').length") == 1


def test_a_row_that_the_baseline_lacks_shows_times(tmp_path, long_study, remote):
    long_study.change("torch1:eager", "mlp-train", status="failed", stage="first-call", reason="boom", sample_ns=[])
    remote.open(page_of(long_study, tmp_path).as_uri())
    texts = remote.value("""(() => {
      const rows = [...document.querySelectorAll('#table tbody tr')];
      const row = rows.find((one) => one.cells[0].textContent === 'mlp-train');
      return [...row.cells].slice(1).map((cell) => cell.textContent);
    })()""")
    assert texts[0] == "failed"
    assert all(re.match(r"[0-9.]+ [mµ]s", text) for text in texts[1:] if text)


def test_the_downloaded_data_are_csv_that_no_spreadsheet_computes(tmp_path, long_study, remote):
    hostile(long_study, ("=cmd()", '+1,"2"', "-a\nb", "@x", *ATTACKS))
    path = page_of(long_study, tmp_path)
    remote.open(path.as_uri())
    text = remote.value("""(async () => {
      let found;
      URL.createObjectURL = (blob) => { found = blob; return 'blob:none'; };
      document.querySelector('footer button').click();
      return found.text();
    })()""")
    heading, *rows = csv.reader(io.StringIO(text))
    assert len(rows) == len(data_of(path)["cells"])
    assert {len(row) for row in rows} == {len(heading)}
    assert {row[heading.index("workload")] for row in rows} == {"'=cmd()", '\'+1,"2"', "'-a\nb"}
    assert not [field for row in rows for field in row if field.startswith(("=", "+", "-", "@"))]


def test_the_address_chooses_what_is_shown(tmp_path, long_study, chromium):
    path = page_of(long_study, tmp_path)
    text = chromium.dump(path, "workload=mlp-train&mode=eager&sort=-jax%3Ajit")
    rows = re.findall(r'<th scope="row">([^<]*)</th>', text)
    assert rows[0] == "mlp-train"
    assert "dispatch" not in rows
    assert 'data-key="sort jax:eager"' in text
    assert 'data-key="sort jax:jit"' not in text


def test_sorting_orders_the_rows_by_the_column(tmp_path, long_study, chromium):
    path = page_of(long_study, tmp_path)
    times = {
        workload: cell["step"] for (workload, column), cell in cells_of(data_of(path)).items() if column == "jax:jit"
    }
    for sign, down in (("", False), ("-", True)):
        text = chromium.dump(path, f"show=times&sort={sign}jax%3Ajit")
        rows = [row for row in re.findall(r'<th scope="row">([^<]*)</th>', text) if row in times]
        assert rows == sorted(times, key=times.__getitem__, reverse=down)


def test_another_baseline_gives_ratios_of_medians_and_says_so(tmp_path, long_study, chromium):
    path = page_of(long_study, tmp_path)
    found = cells_of(data_of(path))
    text = chromium.dump(path, "baseline=jax%3Ajit&cell=0%2Ftf2%3Aeager")
    assert "ratio of medians, without interval" in browser.shown(text)
    expected = found["dispatch", "jax:jit"]["step"] / found["dispatch", "tf2:eager"]["step"]
    assert re.search(rf"<dt>speed-up</dt><dd>{expected:.2f} </dd>", text)


@pytest.mark.long
@pytest.mark.parametrize("number", range(10))
def test_two_hundred_hostile_names_stay_text(tmp_path, long_study, number, chromium):
    names = tuple(f"{ATTACKS[(number + i) % len(ATTACKS)]}{string.ascii_letters[i]}{number}" for i in range(20))
    hostile(long_study, names)
    path = page_of(long_study, tmp_path)
    data = data_of(path)
    text = chromium.dump(path, f"filter={names[0][:0]}&cell=0%2F{data['columns'][-1]['id']}")
    assert 'data-ready="yes"' in text
    found = browser.Elements(text)
    assert found.names <= ELEMENTS
    assert not {name for name in found.attributes if name.startswith("on") or name in ("src", "href", "srcdoc")}
    title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
    assert title is not None
    assert title[1] != "pwned"
    shown = browser.shown(text)
    for name in names[:3]:
        assert " ".join(name.split()) in shown


def phone(remote, width: int) -> None:
    remote.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 561)


def test_a_narrow_screen_folds_what_there_is_to_choose_and_keeps_it_open_once_it_is(tmp_path, long_study, remote):
    shown = "getComputedStyle(document.querySelector('.axes > summary')).display !== 'none'"
    is_open = "document.querySelector('.axes').open"
    phone(remote, 390)
    remote.open(page_of(long_study, tmp_path).as_uri())
    assert remote.value(shown)
    assert not remote.value(is_open)
    remote.value("document.querySelector('.axes > summary').click()")
    remote.value("new Promise((done) => setTimeout(done, 300))")
    remote.value("document.querySelector('.axis .chip').click()")
    assert remote.value(is_open)
    assert remote.value("document.documentElement.scrollWidth") <= 390
    phone(remote, 1300)
    remote.open(page_of(long_study, tmp_path).as_uri())
    assert not remote.value(shown)
    assert remote.value(is_open)
    remote.call("Emulation.clearDeviceMetricsOverride")


def test_that_the_machine_was_busy_stands_above_the_finding_and_not_in_its_place(tmp_path, long_study, remote):
    shown = (
        "[...document.querySelectorAll('#top .banner, #top .answer')].map((one) => [one.className, one.textContent])"
    )
    long_study.change("jax:jit", "mlp-train", other_load=0.9)
    page = page_of(long_study, tmp_path)
    remote.open(page.as_uri())
    banner, answer = remote.value(shown)
    assert banner[0] == "banner"
    assert banner[1].startswith("The machine was busy: 1 of ")
    assert answer == ["answer", data_of(page)["answer"][0]]
    for column in {record.cell.column for record in long_study.records}:
        long_study.change(column, other_load=0.9)
    remote.open(page_of(long_study, tmp_path).as_uri())
    (only,) = remote.value(shown)
    assert only[0] == "answer"
    assert only[1].startswith("The machine was busy")


def test_that_a_run_has_not_finished_stands_above_the_finding_and_not_in_its_place(tmp_path, long_study):
    long_study.run["finished"] = False
    data = data_of(page_of(long_study, tmp_path))
    assert data["banner"] == "Partial: the run has not finished."
    assert data["answer"][0].startswith("Fastest on average: ")
    assert data["banner"] not in data["answer"]
