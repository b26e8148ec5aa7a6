"""Tests the table of the settings that differ."""

from __future__ import annotations

from dataclasses import replace

from study_reports import report_of

from bench.host.reporting.renderers import latex, markdown


def made(study):
    return report_of(study)


def rows(study) -> list[list[str]]:
    return [[entry.text for entry in row] for row in made(study).settings.groups[0].rows]


def fused_in_one_mode(study) -> None:
    """Let a mode of PyTorch 2.15 differ from the others of its environment."""
    study.records = [
        replace(r, settings={"fused": r.cell.mode == "compile"} if r.cell.environment == "torch2" else {})
        for r in study.records
    ]


def test_an_environment_whose_modes_agree_is_named_once(long_study):
    assert rows(long_study) == [
        ["instruction set", "AVX2", "PyTorch 1.13"],
        ["", "AVX512", "PyTorch 2.15; TensorFlow 2.15; JAX 2.15"],
    ]


def test_every_value_has_a_row_with_the_releases_and_modes_that_have_it(long_study):
    fused_in_one_mode(long_study)
    assert [column.title for column in made(long_study).settings.columns] == ["setting", "value", "columns"]
    assert rows(long_study) == [
        ["fused", "–", "PyTorch 1.13; TensorFlow 2.15; JAX 2.15"],
        ["", "False", "PyTorch 2.15 eager"],
        ["", "True", "PyTorch 2.15 compile"],
    ]


def test_files_have_a_row_per_value_as_well(long_study):
    """Markdown and LaTeX had a column of the table for every column of results: wider than a page."""
    fused_in_one_mode(long_study)
    tables = [table for table in made(long_study).tables if table.title == "Settings that differ"]
    (line,) = [line for line in markdown.document("Run", tables).splitlines() if "| True " in line]
    assert [text.strip() for text in line.split("|")] == ["", "", "True", "PyTorch 2.15 compile", ""]
    assert r" & True & PyTorch 2.15 compile \\" in latex.document(tables)


def test_settings_that_only_one_framework_has_are_no_difference(long_study):
    long_study.records = [replace(r, settings={r.cell.environment: r.cell.mode[0]}) for r in long_study.records]
    long_study.records = [r for r in long_study.records if r.cell.mode in ("eager",)]
    assert made(long_study).settings is None


def test_an_empty_value_is_said_to_be_empty(long_study):
    long_study.change("jax:jit", "mlp-train", settings={"BLAS": ""})
    long_study.change("torch2:eager", "mlp-train", settings={"BLAS": "mkl"})
    assert "empty" in [value for _setting, value, _columns in rows(long_study)]


def test_no_setting_stands_below_another_table(long_study):
    assert not any(
        "instruction set" in note
        for table in (made(long_study).summary, made(long_study).details)
        for note in (*table.marks, *table.remarks)
    )
