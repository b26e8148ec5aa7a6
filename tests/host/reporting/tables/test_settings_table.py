"""Tests the table of the settings that differ."""

from __future__ import annotations

from dataclasses import replace

from study_reports import report_of

from bench.host.reporting.tables.settings import by_value


def made(study):
    return report_of(study)


def rows(study) -> dict[str, list[str]]:
    return {row[0].text: [entry.text for entry in row[1:]] for row in made(study).settings.groups[0].rows}


def titles(study) -> list[str]:
    return [column.title.replace("\n", " ") for column in made(study).settings.columns[1:]]


def test_environments_whose_modes_agree_have_one_column(long_study):
    assert titles(long_study) == ["PyTorch 1.13", "PyTorch 2.15", "TensorFlow 2.15", "JAX 2.15"]
    assert rows(long_study) == {"instruction set": ["AVX2", "AVX512", "AVX512", "AVX512"]}


def test_modes_that_differ_have_columns_of_their_own(long_study):
    long_study.records = [
        replace(r, settings={"fused": r.cell.mode == "compile"} if r.cell.environment == "torch2" else {})
        for r in long_study.records
    ]
    found = dict(zip(titles(long_study), rows(long_study)["fused"], strict=True))
    assert found == {
        "PyTorch 1.13": "–",
        "PyTorch 2.15 eager": "False",
        "PyTorch 2.15 compile": "True",
        "TensorFlow 2.15": "–",
        "JAX 2.15": "–",
    }


def test_settings_that_only_one_framework_has_are_no_difference(long_study):
    long_study.records = [replace(r, settings={r.cell.environment: r.cell.mode[0]}) for r in long_study.records]
    long_study.records = [r for r in long_study.records if r.cell.mode in ("eager",)]
    assert made(long_study).settings is None


def test_an_empty_value_is_said_to_be_empty(long_study):
    long_study.change("jax:jit", "mlp-train", settings={"BLAS": ""})
    long_study.change("torch2:eager", "mlp-train", settings={"BLAS": "mkl"})
    assert "empty" in rows(long_study)["BLAS"]


def test_no_setting_stands_below_another_table(long_study):
    assert not any(
        "instruction set" in note
        for table in (made(long_study).summary, made(long_study).details)
        for note in (*table.marks, *table.remarks)
    )


def test_a_terminal_shows_a_row_per_value_with_the_releases_and_modes_that_have_it(long_study):
    long_study.records = [
        replace(r, settings={"fused": r.cell.mode == "compile"} if r.cell.environment == "torch2" else {})
        for r in long_study.records
    ]
    table = by_value(made(long_study).settings)
    assert [column.title for column in table.columns] == ["setting", "value", "columns"]
    assert [[entry.text for entry in row] for row in table.groups[0].rows] == [
        ["fused", "–", "PyTorch 1.13; TensorFlow 2.15; JAX 2.15"],
        ["", "False", "PyTorch 2.15 eager"],
        ["", "True", "PyTorch 2.15 compile"],
    ]
