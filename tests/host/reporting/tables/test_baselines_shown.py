"""Tests that tables say what their numbers are ratios of, whatever the baseline, and which way they go."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from study_reports import report_of

from bench.host.reporting.outputs import summary_latex
from bench.host.study.baseline import BEST, PREVIOUS, RATIO


def made(study, baseline="torch1:eager", ratios="speedup"):
    study.run["study"] |= {"baseline": baseline, "ratios": ratios}
    return report_of(study)


def row(table, name):
    return [entry.text for entry in next(one for one in table.groups[0].rows if one[0].text == name)[1:]]


def number(text):
    return float(text.rstrip("*≈?~^"))


def test_over_the_best_of_a_row_the_best_shows_its_time_and_no_other_is_faster(long_study):
    table = made(long_study, BEST).main
    assert table.caption.startswith("Speed-up over the best of its row; times where there is none (")
    for name in ("dispatch", "mlp-train", "catdog-cnn-train"):
        texts = row(table, name)
        assert sum("s" in text for text in texts) == 1
        assert all(number(text) <= 1.0 for text in texts if "s" not in text)
    assert any(remark.startswith("No verdicts: the best is chosen") for remark in table.remarks)


def test_where_the_baseline_has_no_time_at_all_another_one_is_named(long_study):
    for workload in ("dispatch", "mlp-train", "catdog-cnn-train"):
        long_study.end("torch1:eager", workload, "unsupported", "import", "not here")
    (remark,) = [one for one in made(long_study).main.remarks if one.startswith("No ratios")]
    named = re.fullmatch(r"No ratios: torch1:eager has no time\. Give --baseline (.*)\.", remark).group(1)
    assert not [one for one in made(long_study, named).main.remarks if one.startswith("No ratios")]


def test_over_the_version_before_the_others_show_their_times(long_study):
    long_study.records = [
        replace(r, versions={r.cell.framework: {"torch1": "1.13", "torch2": "2.10"}.get(r.cell.environment, "3")})
        for r in long_study.records
    ]
    table = made(long_study, PREVIOUS).main
    assert "Speed-up over the version before, in the same mode" in table.caption
    titles = [column.title.replace("\n", " ").rstrip("°") for column in table.columns[1:]]
    texts = dict(zip(titles, row(table, "mlp-train"), strict=True))
    assert number(texts["PyTorch 2.10 eager"]) == pytest.approx(1 / 1.07, rel=0.05)
    assert sum("s" in text for text in texts.values()) == len(texts) - 1


def test_ratios_are_the_inverse_of_speed_ups_and_say_so(tmp_path, long_study):
    faster, longer = made(long_study).main, made(long_study, ratios=RATIO).main
    assert "ratios to it, below 1 is faster" in longer.caption
    for one, other in zip(row(faster, "mlp-train")[1:], row(longer, "mlp-train")[1:], strict=True):
        assert number(one) == pytest.approx(1 / number(other), rel=0.1)
    summary_latex.write(made(long_study, ratios=RATIO), tmp_path)
    text = (tmp_path / summary_latex.NAME).read_text()
    assert r"\textit{ratio}" in text
    assert "speed-up" not in text


def test_sentences_go_the_way_of_the_table(long_study):
    table = made(long_study, ratios=RATIO).main
    means = dict(zip([column.name for column in table.columns], ["", *row(table, "geometric mean")], strict=True))
    first = next(one for one in table.sentences if one.startswith("Fastest on average"))
    said = re.findall(r"(PyTorch [\d.]+ \w+|TensorFlow [\d.]+ \w+|JAX [\d.]+ \w+) (?:takes )?(\d+\.\d+)", first)
    assert len(said) == 2
    for name, value in said:
        assert float(value) == pytest.approx(number(means[name]), abs=0.06)
        assert float(value) < 1.0
    told = [one for one in table.sentences if one.startswith(("dispatch: ", "mlp-train: ", "catdog-cnn-train: "))]
    assert told
    assert not [one for one in (*table.sentences, *table.remarks) if "times as fast" in one]
    remarks = "\n".join(made(long_study, ratios=RATIO).ranking.remarks)
    assert "best mode in every row, ratios to PyTorch 1.13 eager" in remarks


@pytest.mark.parametrize(("ratios", "numbers"), [("speedup", "speed-ups"), (RATIO, "ratios, below 1 is faster")])
def test_a_row_that_the_baseline_lacks_shows_times(tmp_path, long_study, ratios, numbers):
    assert "where it has none" not in made(long_study, ratios=ratios).main.caption
    long_study.change("torch1:eager", "mlp-train", status="failed", stage="first-call", reason="boom", sample_ns=[])
    table = made(long_study, ratios=ratios).main
    assert table.caption.startswith(f"Time per step of PyTorch 1.13 eager, and of all where it has none; {numbers} (")
    assert row(table, "mlp-train")[0] == "failed"
    texts = [text for text in row(table, "mlp-train")[1:] if text]
    assert texts
    assert all(re.fullmatch(r"[0-9.]+ [mµ]s~?", text) for text in texts)
    assert not any("s" in text for text in row(table, "dispatch")[1:])
    summary_latex.write(made(long_study, ratios=ratios), tmp_path)
    text = (tmp_path / summary_latex.NAME).read_text()
    assert "and of all where it has none" in text.replace("\n% ", " ")
    line = next(line for line in text.splitlines() if line.startswith("mlp-train"))
    assert re.fullmatch(r"mlp-train & --( & \{[0-9.]+\\,(ms|\$\\mu\$s)\}){3} \\\\", line)


@pytest.mark.parametrize("baseline", [BEST, PREVIOUS])
def test_every_output_can_be_written(tmp_path, long_study, baseline):
    written = made(long_study, baseline).write(tmp_path)
    assert written.refused == []
    assert {"table.md", "summary.tex", "report.html", "macros.tex", "results.csv"} <= {p.name for p in written.paths}
    assert f"ratio to {baseline} " not in (tmp_path / "table.md").read_text()
