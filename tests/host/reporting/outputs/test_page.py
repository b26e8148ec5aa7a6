"""Tests what the data of the page hold, and that no text becomes markup."""

from __future__ import annotations

import json
import re

import matplotlib.colors
import pytest
from pages import ATTACKS, DATA, cells_of, data_of, page_of, rename

from bench.host.analysis.quality import quality_of
from bench.host.reporting import report
from bench.host.reporting.figures import style
from bench.host.reporting.outputs import page_html
from bench.host.reporting.page import cells, document, looks
from bench.host.reporting.words.labels import Label
from bench.host.reporting.words.language import find, writing_in
from bench.host.storage.manifest import Manifest


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


def test_a_cell_of_single_steps_has_their_latency(tmp_path, long_study):
    times = [1_000_000] * 98 + [3_000_000] * 2
    single = {"sample_steps": [1] * 100, "sample_turn": list(range(100))}
    long_study.change("jax:jit", "mlp-train", sample_ns=times, sample_cpu_ns=times, **single)
    found = cells_of(data_of(page_of(long_study, tmp_path)))
    assert [found["mlp-train", "jax:jit"][name] for name in ("p50", "p99")] == [1_000_000, 3_000_000]
    assert found["dispatch", "jax:jit"]["p50"] is None


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


def test_a_column_has_the_look_that_it_has_in_the_figures(tmp_path, long_study):
    found = report.make(long_study.records, long_study.manifest).speed_ups
    expected = style.styles_of(found.columns, found.labels)
    shown = {column["id"]: column["look"] for column in data_of(page_of(long_study, tmp_path))["columns"]}
    assert {name: look["marker"] for name, look in shown.items()} == {c: one.marker for c, one in expected.items()}
    for name, look in shown.items():
        pattern = expected[name].pattern
        assert look["strokes"] == ([] if pattern == "solid" else list(pattern[1]))
        assert matplotlib.colors.to_rgb(look["colour"]) == pytest.approx(expected[name].colour, abs=1 / 255)
    # Of an older version the colour is paler.
    assert shown["torch1:eager"]["colour"] != shown["torch2:eager"]["colour"] == style.COLOURS["PyTorch"].lower()


def test_the_page_can_draw_every_mark_of_the_figures():
    script = (document.FOLDER / "marks.js").read_text(encoding="utf-8")
    shapes = re.search(r"const SHAPES = \{(.*?)\};", script, re.DOTALL)[1]
    assert set(re.findall(r"^  '?(.)'?: 'm", shapes, re.MULTILINE)) == set(style.MARKERS)


def test_a_black_column_has_the_colour_of_the_text_which_a_dark_page_shows():
    names = ("Keras", "Lightning", "Flax", "Mine")
    labels = {name: Label(name, "1.0", "run", name) for name in names}
    assert style.styles_of(names, labels)["Mine"].colour == (0.0, 0.0, 0.0)
    assert looks.looks_of(names, labels, None)["Mine"]["colour"] == "currentColor"


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


def test_the_page_says_what_the_names_of_rows_leave_out(tmp_path, long_study):
    made = report.make(long_study.records, long_study.manifest)
    conditions = data_of(page_of(long_study, tmp_path))["conditions"]
    assert conditions.startswith("Conditions: small, float32, cpu, 2 threads. Profile ")
    assert "(small, float32, cpu, 2 threads)" in made.main.caption
