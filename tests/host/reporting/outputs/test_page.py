"""Tests the page: what its data hold, that no text becomes markup, and what a browser makes of it."""

from __future__ import annotations

import csv
import io
import json
import re
import string
from dataclasses import replace
from pathlib import Path

import browser
import pytest
import remote_browser

from bench.host.analysis.quality import quality_of
from bench.host.reporting import report
from bench.host.reporting.outputs import page_html
from bench.host.reporting.page import cells, document
from bench.host.reporting.words.language import find, writing_in
from bench.host.storage.manifest import Manifest

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
#: Names that end an element, an attribute, a string or a script, in HTML, JSON, CSS, URLs and templates.
ATTACKS = (
    "</script><script>document.title='pwned'</script>", "<img src=x onerror=document.title='pwned'>", "<!--<script>",
    '"><svg onload=document.title="pwned">', "'); document.title='pwned'; ('", "${document.title='pwned'}", "@@DATA@@",
    "javascript:document.title='pwned'", "\u2028document.title='pwned'\u2029", "{baseline}{count}", "&lt;b&gt;", "a&b",
    "</style><style>*{display:none}", "]]>", "__proto__", "constructor", "=cmd()", "%3Cb%3E", "a,b=c&d#e/f", "\\u003c",
)  # fmt: skip
#: The elements that the page is made of.
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "article",
    "dialog", "noscript", "script", "h1", "h2", "h3", "p", "div", "span", "b", "i", "strong", "code", "dl",
    "dt", "dd", "ol", "ul", "li", "table", "thead", "tbody", "tfoot", "tr", "th", "td", "button", "label",
    "select", "option", "input", "details", "summary", "svg", "path", "rect", "line", "text",
}  # fmt: skip


def page_of(study, folder: Path) -> Path:
    (path,) = page_html.write(report.make(study.records, study.manifest), folder)
    return path


def data_of(path: Path) -> dict:
    (found,) = DATA.findall(path.read_text(encoding="utf-8"))
    return json.loads(found)


def cells_of(data: dict) -> dict[tuple[str, str], dict]:
    """Return the cells of the page by workload and column, with their texts in place of numbers."""
    texts = ("status", "stage", "reason", "grade", "verdict", "warmUp")
    found = {}
    for values in data["cells"]:
        cell = dict.fromkeys(data["fields"]) | dict(zip(data["fields"], values, strict=False))
        cell |= {name: data["texts"][cell[name]] for name in texts if cell[name] is not None}
        found[data["rows"][cell["row"]]["workload"], data["columns"][cell["column"]]["id"]] = cell
    return found


def rename(study, names: dict[str, str]) -> None:
    """Replace words of the study, wherever they stand in records and manifest."""
    text = json.dumps([[record.to_json() for record in study.records], study.run])
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    records, study.run = json.loads(text)
    study.records = [type(study.records[0]).from_json(record) for record in records]


def hostile(study, names: tuple[str, ...]) -> None:
    """Put names in place of every free text of a study."""
    words = [
        "dispatch",
        "mlp-train",
        "catdog-cnn-train",
        "small",
        "eager",
        "xla",
        "tf2",
        "AVX2",
        "instruction set",
        "step",
    ]
    rename(study, dict(zip(words, names, strict=False)))
    study.run["study"]["title"] = names[0]
    study.run["study"]["baseline"] = study.records[0].cell.column
    study.run["machine"] = {names[1]: names[2], "processor": names[3]}
    study.run["environments"] = {names[4]: {"requirements": [names[5]], "packages": {names[6]: names[7]}}}
    study.records = [
        replace(record, status="failed", stage=names[8], reason=names[9], sample_ns=[])
        if i % 7 == 3
        else replace(record, settings={names[10]: names[11]}, versions={**record.versions, names[12]: names[13]})
        for i, record in enumerate(study.records)
    ]


def test_every_cell_is_in_the_data_with_the_numbers_of_the_analysis(tmp_path, long_study):
    made = report.make(long_study.records, long_study.manifest)
    (path,) = page_html.write(made, tmp_path)
    found = cells_of(data_of(path))
    assert len(found) == len(made.analysis.results) == len(long_study.cells)
    for result in made.analysis.results:
        cell = found[result.cell.workload, result.cell.column]
        assert cell["step"] == pytest.approx(result.step.value * 1e9, rel=1e-5)
        assert cell["stepLow"] == pytest.approx(result.step.low * 1e9, rel=1e-5)
        assert cell["grade"] == quality_of(result).value
        assert cell["verdict"] == (result.verdict.value if result.verdict else None)
        assert cell["ratio"] == (pytest.approx(result.ratio.estimate.value, rel=1e-5) if result.ratio else None)
        assert cell["firstCold"] == pytest.approx(result.first_call_s("cold") * 1e9, rel=1e-5)
        assert cell["peak"] == pytest.approx(result.peak_bytes, rel=1e-5)


def test_a_cell_without_a_time_has_its_stage_and_reason(tmp_path, short_study):
    found = cells_of(data_of(page_of(short_study, tmp_path)))
    lost = found["mlp-train", "tf2:xla"]
    assert (lost["status"], lost["stage"]) == ("mismatch", "check")
    assert lost["reason"] == "loss errs by 3.1e-2; 1e-5 is allowed"
    assert lost["step"] is None
    assert found["catdog-cnn-train", "torch1:torchscript"]["status"] == "excluded"
    assert found["catdog-cnn-train", "jax:jit"]["status"] == "not run"


def test_samples_are_read_back_to_a_part_in_four_thousand(long_study):
    made = report.make(long_study.records, long_study.manifest)
    result = made.analysis.results[0]
    lowest, highest, series = cells.picture(result.timed, 10_000)
    assert len(series) == len(result.timed)
    digits = {digit: number for number, digit in enumerate(cells.DIGITS)}
    for process, text in zip(result.timed, series, strict=True):
        pairs = [digits[a] * len(digits) + digits[b] for a, b in zip(text[::2], text[1::2], strict=True)]
        read = [lowest + (highest - lowest) * pair / cells.LEVELS for pair in pairs]
        record = process.record
        exact = [ns / steps for ns, steps in zip(record.sample_ns, record.sample_steps, strict=True)]
        assert read == pytest.approx(exact, abs=(highest - lowest) / 4000)


def test_pictures_have_no_more_points_than_their_share(long_study):
    made = report.make(long_study.records, long_study.manifest)
    processes = made.analysis.results[0].timed
    for share in (10, 35, 90, 1000):
        *_, series = cells.picture(processes, share)
        assert sum(map(len, series)) <= 2 * share
        assert series


def test_the_page_takes_nothing_from_anywhere_else(tmp_path, long_study):
    text = page_of(long_study, tmp_path).read_text()
    style_and_script = DATA.sub("", text)
    assert not re.search(r"\b(src|href)=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", style_and_script)
    assert "default-src 'none'" in text
    assert "innerHTML" not in text
    assert "@@" not in text


def test_no_text_ends_the_element_that_holds_the_data():
    for attack in ATTACKS:
        escaped = document.escape({"name": attack, attack: 1})
        assert json.loads(escaped) == {"name": attack, attack: 1}
        assert not set(escaped) & set("<>&\u2028\u2029")


def test_a_lone_surrogate_is_written_as_a_question_mark():
    assert json.loads(document.escape({"name": "a\ud800b"})) == {"name": "a?b"}


def test_the_page_is_in_the_language_of_the_report(tmp_path, long_study):
    with writing_in(find("pt_BR")):
        path = page_of(long_study, tmp_path)
    data = data_of(path)
    assert '<html lang="pt-BR">' in path.read_text()
    assert data["words"]["baseline"] == "referência"
    assert data["decimal"] == ","


def test_a_run_without_its_baseline_or_without_records_has_a_page(tmp_path, long_study):
    long_study.run["study"]["baseline"] = None
    assert data_of(page_of(long_study, tmp_path))["baseline"] is None
    (path,) = page_html.write(report.make([], Manifest()), tmp_path)
    assert data_of(path)["cells"] == []


def test_columns_of_one_framework_and_version_keep_the_name_of_the_framework(tmp_path, long_study):
    rename(long_study, {"1.13.1": "2.15.0"})
    columns = {column["id"]: column for column in data_of(page_of(long_study, tmp_path))["columns"]}
    assert columns["torch1:eager"]["product"] == columns["torch2:eager"]["product"] == "PyTorch"
    assert columns["torch1:eager"]["release"] == "torch1 2.15"
    assert columns["torch2:eager"]["release"] == "torch2 2.15"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    opened = remote_browser.Browser(browser.find(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def remote(chromium):
    chromium.start_afresh()
    return chromium


@pytest.mark.browser
class TestWithAReader:
    def test_keys_open_and_close_the_details_and_the_address_follows(self, tmp_path, long_study, remote):
        remote.open(page_of(long_study, tmp_path).as_uri())
        remote.value("document.querySelector('tbody td button').focus()")
        for key in ("ArrowRight", "ArrowDown", "Enter"):
            remote.press(key)
        assert remote.value("document.getElementById('details').open")
        assert remote.value("location.hash") == "#cell=1%2Ftorch1%3Atorchscript"
        remote.press("Escape")
        assert remote.value("new Promise((done) => setTimeout(() => done(location.hash), 300))") == ""
        assert remote.value("document.activeElement.dataset.key") == "1/torch1:torchscript"

    def test_a_choice_keeps_the_focus_and_changes_the_address(self, tmp_path, long_study, remote):
        remote.open(page_of(long_study, tmp_path).as_uri())
        remote.value("document.querySelector('.axis .chip').focus()")
        remote.press("Enter")
        assert remote.value("location.hash") == "#workload=dispatch"
        assert remote.value("document.activeElement.getAttribute('aria-pressed')") == "true"
        assert remote.value("document.querySelectorAll('#table tbody tr').length") == 1

    def test_the_downloaded_data_are_csv_that_no_spreadsheet_computes(self, tmp_path, long_study, remote):
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


@pytest.mark.browser
class TestInABrowser:
    def test_the_page_shows_the_answer_the_chart_and_the_table(self, tmp_path, long_study, chromium):
        path = page_of(long_study, tmp_path)
        text = chromium.dump(path)
        assert 'data-ready="yes"' in text
        assert text.count('<tr><th scope="row">') == 3 + 1 + 1  # three workloads, an environment, a setting
        shown = browser.shown(text)
        assert data_of(path)["answer"][0] in shown
        assert "PyTorch 1.13" in shown
        assert shown.count("geometric mean") == 2  # of the chart and of the table

    def test_rows_of_other_numbers_of_threads_are_not_part_of_the_mean(self, tmp_path, long_study, chromium):
        before = chromium.dump(page_of(long_study, tmp_path))
        long_study.records += [
            replace(r, cell=replace(r.cell, threads=1, workload=f"{r.cell.workload}-1"))
            for r in long_study.records
            if r.cell.workload != "dispatch" and (r.cell.column != "jax:jit" or r.round % 2)
        ]
        after = chromium.dump(page_of(long_study, tmp_path))
        means = [re.search(r"<tfoot>.*?</tfoot>", text, re.DOTALL)[0] for text in (before, after)]
        assert "geometric mean, threads: 2" in means[1]
        assert re.findall(r"<span>([^<]*)", means[0]) == re.findall(r"<span>([^<]*)", means[1])

    @pytest.mark.parametrize(
        ("figure", "panels", "says"),
        [
            ("breakEven", 3, "made up for a slower start"),
            ("distributions", 3, "Every dot is a sample"),
            ("scaling", 1, "Time per step at each size"),
            ("memory", 3, "Peak memory of the steps"),
            ("profile", 1, "over 4 complete rows"),
            ("roofline", 1, "cpu / float32 / threads: 2"),
        ],
    )
    def test_a_further_figure_is_drawn_when_it_is_asked_for(self, tmp_path, long_study, chromium, figure, panels, says):
        if figure in ("scaling", "profile"):
            long_study.records += [
                replace(r, cell=replace(r.cell, size="tiny"), sample_ns=[max(1, ns // 3) for ns in r.sample_ns])
                for r in long_study.records
                if r.cell.workload == "mlp-train"
            ]
        rates = {"flops_per_s": {"float32": 1e11}, "bandwidths": [[1e6, 1e11], [1e9, 2e10]]}
        long_study.run["peaks"] = {"torch1/cpu": rates}
        path = page_of(long_study, tmp_path)
        before, after = (
            re.search(r'<section id="figures">(.*?)<section id="table">', chromium.dump(path, address), re.DOTALL)[1]
            for address in ("", f"figure={figure}")
        )
        assert "panel" not in before
        assert len(re.findall(r'<section class="panel"', after)) == panels
        assert says in browser.shown(after)
        if figure != "memory":
            assert not re.search(r"NaN|Infinity|undefined", after)
            assert "JAX 2.15 jit" in browser.shown(after)

    def test_the_settings_that_differ_are_shown(self, tmp_path, long_study, chromium):
        shown = browser.shown(chromium.dump(page_of(long_study, tmp_path)))
        assert "Settings that differ" in shown
        assert "AVX512" in shown

    def test_the_address_chooses_what_is_shown(self, tmp_path, long_study, chromium):
        path = page_of(long_study, tmp_path)
        text = chromium.dump(path, "workload=mlp-train&mode=eager&sort=-jax%3Ajit")
        rows = re.findall(r'<th scope="row">([^<]*)</th>', text)
        assert rows[0] == "mlp-train"
        assert "dispatch" not in rows
        assert 'data-key="sort jax:eager"' in text
        assert 'data-key="sort jax:jit"' not in text

    def test_sorting_orders_the_rows_by_the_column(self, tmp_path, long_study, chromium):
        path = page_of(long_study, tmp_path)
        times = {
            workload: cell["step"]
            for (workload, column), cell in cells_of(data_of(path)).items()
            if column == "jax:jit"
        }
        for sign, down in (("", False), ("-", True)):
            text = chromium.dump(path, f"show=times&sort={sign}jax%3Ajit")
            rows = [row for row in re.findall(r'<th scope="row">([^<]*)</th>', text) if row in times]
            assert rows == sorted(times, key=times.__getitem__, reverse=down)

    def test_another_baseline_gives_ratios_of_medians_and_says_so(self, tmp_path, long_study, chromium):
        path = page_of(long_study, tmp_path)
        found = cells_of(data_of(path))
        text = chromium.dump(path, "baseline=jax%3Ajit&cell=0%2Ftf2%3Aeager")
        assert "ratio of medians, without interval" in browser.shown(text)
        expected = found["dispatch", "jax:jit"]["step"] / found["dispatch", "tf2:eager"]["step"]
        assert re.search(rf"<dt>speed-up</dt><dd>{expected:.2f} </dd>", text)

    def test_a_cell_opens_with_its_samples_settings_and_command(self, tmp_path, long_study, chromium):
        text = chromium.dump(page_of(long_study, tmp_path), "cell=1%2Ftorch2%3Acompile")
        assert re.search(r"<dialog[^>]* open", text)
        assert text.count('class="dots"') == 10
        shown = browser.shown(text)
        command = "nox -s bench-torch2 -- --workload mlp-train --mode compile --size small --precision float32"
        assert f"{command} --device cpu --threads 2 --profile quick" in shown
        assert "instruction set AVX512" in shown

    @pytest.mark.parametrize("column", ["jax:jit", "torch1:eager"])
    def test_a_disturbed_time_is_withheld_from_table_and_mean(self, tmp_path, long_study, column, chromium):
        long_study.change(column, "dispatch", other_load=0.9)
        text = chromium.dump(page_of(long_study, tmp_path))
        entry = re.search(r'<td class="muted"><button[^>]*data-key="0/jax:jit">(.*?)<', text)
        assert entry is not None
        assert entry[1] == "-"
        # The two rows that are left are too few for a mean.
        assert "geometric mean" not in browser.shown(text)
        assert "withheld: other programs were computing" in browser.shown(text)

    def test_a_run_without_its_baseline_shows_times(self, tmp_path, long_study, chromium):
        long_study.run["study"]["baseline"] = "absent:eager"
        shown = browser.shown(chromium.dump(page_of(long_study, tmp_path)))
        assert "No baseline was measured" in shown
        assert "Median time per step." in shown

    def test_a_cell_that_failed_opens_with_its_reason(self, tmp_path, short_study, chromium):
        shown = browser.shown(chromium.dump(page_of(short_study, tmp_path), "cell=1%2Ftf2%3Axla"))
        assert "loss errs by 3.1e-2; 1e-5 is allowed" in shown

    @pytest.mark.parametrize("number", range(10))
    def test_two_hundred_hostile_names_stay_text(self, tmp_path, long_study, number, chromium):
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
