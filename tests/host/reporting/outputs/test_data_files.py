"""Tests the files that programs read: results.csv, samples.parquet, the questions about them, and their description."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from bench.host.__main__ import main
from bench.host.reporting import report
from bench.host.reporting.outputs import details_csv, results_csv, samples_parquet

COLUMNS = (Path(__file__).parents[4] / "docs" / "columns.md").read_text()


def made(study):
    return report.make(study.records, study.manifest)


def results(study, folder: Path) -> list[dict[str, str]]:
    (path,) = results_csv.write(made(study), folder)
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def answers(path: Path, question: str):
    with duckdb.connect() as database:
        return database.sql(question.replace("samples", f"read_parquet('{path}')")).fetchall()


def test_results_have_a_row_for_every_cell_of_the_table(long_study, tmp_path):
    found = results(long_study, tmp_path)
    assert len(found) == len(made(long_study).analysis.results)
    assert {row["status"] for row in found} >= {"ok"}


def test_a_speed_up_is_the_inverse_of_the_ratio_and_the_baseline_is_1(long_study, tmp_path):
    ratios = {r.cell: r.ratio.estimate.value for r in made(long_study).analysis.results if r.ratio}
    found = {(r["environment"], r["mode"], r["workload"]): r for r in results(long_study, tmp_path)}
    for cell, ratio in ratios.items():
        row = found[cell.environment, cell.mode, cell.workload]
        assert float(row["speed_up"]) == pytest.approx(1.0 / ratio)
        assert float(row["speed_up_low"]) <= float(row["speed_up"]) <= float(row["speed_up_high"])
    baseline = [row for row in found.values() if (row["environment"], row["mode"]) == ("torch1", "eager")]
    assert {float(row["speed_up"]) for row in baseline if row["speed_up"]} == {1.0}


def test_a_time_that_must_not_be_used_is_empty(long_study, tmp_path):
    long_study.change("jax:jit", "mlp-train", other_load=0.9)
    rows = [r for r in results(long_study, tmp_path) if (r["mode"], r["workload"]) == ("jit", "mlp-train")]
    assert rows
    assert {(row["quality"], row["step_s"], row["speed_up"]) for row in rows} == {("disturbed", "", "")}


def test_a_comparison_with_a_time_that_must_not_be_used_has_no_verdict(long_study, tmp_path):
    long_study.slow("torch2:eager", "mlp-train", 3.0)
    long_study.change("torch1:eager", "mlp-train", other_load=0.9)
    for row in results(long_study, tmp_path):
        assert bool(row["verdict"]) <= bool(row["speed_up"])


def test_samples_hold_every_sample_of_every_process(long_study, tmp_path):
    (path,) = samples_parquet.write(made(long_study), tmp_path)
    expected = sum(len(record.sample_ns) for record in long_study.records)
    total = sum(sum(record.sample_ns) for record in long_study.records)
    assert answers(path, "select count(*), sum(wall_ns) from samples") == [(expected, total)]


def test_samples_are_in_the_order_in_which_a_process_took_them(long_study, tmp_path):
    (path,) = samples_parquet.write(made(long_study), tmp_path)
    record = next(record for record in long_study.records if record.sample_ns)
    cell = record.cell
    where = (
        f"environment = '{cell.environment}' and mode = '{cell.mode}' and workload = '{cell.workload}' "
        f"and round = {record.round} and attempt = {record.attempt}"
    )
    found = answers(path, f"select wall_ns, steps, turn from samples where {where}")
    assert found == list(zip(record.sample_ns, record.sample_steps, record.sample_turn, strict=True))


def test_a_value_that_the_kernel_did_not_report_is_null(short_study, tmp_path):
    short_study.records[:] = [replace(record, sample_wait_ns=[]) for record in short_study.records]
    (path,) = samples_parquet.write(made(short_study), tmp_path)
    assert answers(path, "select count(wait_ns), count(*) > 0 from samples") == [(0, True)]


def test_a_run_without_samples_writes_an_empty_table_with_its_types(short_study, tmp_path):
    short_study.records.clear()
    (path,) = samples_parquet.write(made(short_study), tmp_path)
    assert answers(path, "select count(*) from samples") == [(0,)]
    types = {name: kind for name, kind, *_ in answers(path, "describe select * from samples")}
    assert (types["wall_ns"], types["environment"], types["disturbed"]) == ("BIGINT", "VARCHAR", "BOOLEAN")


def test_every_column_of_every_file_is_described(long_study, tmp_path):
    (path,) = samples_parquet.write(made(long_study), tmp_path)
    samples = [name for (name, *_) in answers(path, "describe select * from samples")]
    described = set(re.findall(r"`([a-z0-9_]+)`", COLUMNS))
    for names in (results_csv.FIELDS, details_csv.FIELDS, samples):
        assert set(names) - described == set()


@pytest.fixture
def folder(long_study, tmp_path):
    """A folder with the files of a report that questions are asked of."""
    whole = made(long_study)
    for output in (results_csv, details_csv, samples_parquet):
        output.write(whole, tmp_path)
    return tmp_path


def ask(folder: Path, *arguments: str) -> int:
    return main(["query", "--folder", str(folder), *arguments])


def test_a_question_is_answered_as_a_table_or_as_csv(folder, capsys):
    assert ask(folder, "select workload, count(*) as cells from results group by all order by 1") == 0
    assert re.search(r"^dispatch +8$", capsys.readouterr().out, re.MULTILINE)
    assert ask(folder, "--csv", "select count(*) as n from samples where wall_ns > 0") == 0
    assert re.fullmatch(r"n\n\d+\n", capsys.readouterr().out)
    assert ask(folder, "select max(adjusted_p) < 1 from details") == 0


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("select * from nothing", "nothing"),
        ("selct 1", "selct"),
        ("select * from read_csv('/etc/hostname')", "cannot be answered"),
        ("copy results to 'out.csv'", "cannot be answered"),
        ("install httpfs; load httpfs", "cannot be answered"),
        ("set enable_external_access = true", "cannot be answered"),
        ("  ", "Give a question"),
    ],
)
def test_a_question_that_cannot_be_answered_or_reaches_further_is_refused(folder, capsys, question, said):
    assert ask(folder, question) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_without_a_report_the_remedy_is_named(tmp_path, capsys):
    assert ask(tmp_path, "select 1") == 2
    assert "nox -s report" in capsys.readouterr().err


def test_samples_stand_in_the_order_in_which_each_process_took_them_also_where_all_took_one(long_study, tmp_path):
    for most in (1, None):
        records = [
            replace(r, **{name: getattr(r, name)[:most] for name in vars(r) if name.startswith("sample_")})
            for r in long_study.records
        ]
        study = report.make(records, long_study.manifest)
        (path,) = samples_parquet.write(study, tmp_path)
        expected = [
            (record.cell.column, record.cell.row, record.round, ns)
            for result in (*study.analysis.results, *study.analysis.twins)
            for record in result.records
            for ns in record.sample_ns
        ]
        columns = "environment || ':' || mode, workload || '/' || size || '/' || precision || '/' || device"
        assert answers(path, f"select {columns}, round, wall_ns from samples") == expected


def test_the_command_that_writes_a_missing_table_names_its_folder(folder, capsys):
    (folder / "results.csv").write_bytes(b"\x00\xff" * 9)
    (folder / "details.csv").unlink()
    ask(folder, "select 1")
    assert capsys.readouterr().err.endswith(f"from the records: nox -s report -- {folder}\n")
