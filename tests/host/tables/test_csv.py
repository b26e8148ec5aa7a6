from __future__ import annotations

import csv as standard
import io
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.host import report
from bench.host.tables import csv


def read(study) -> list[dict[str, str]]:
    made = report.make(study.records, study.run)
    return list(standard.DictReader(io.StringIO(csv.render(made.results))))


def test_every_cell_has_a_row_with_every_field(short_study):
    rows = read(short_study)
    assert len(rows) == len(short_study.cells)
    assert all(list(row) == list(csv.FIELDS) and None not in row.values() for row in rows)


def test_numbers_are_plain_and_in_si_units(long_study):
    row = next(row for row in read(long_study) if row["workload"] == "mlp-train" and row["mode"] == "compile")
    assert float(row["step_low_s"]) < float(row["step_s"]) < float(row["step_high_s"])
    assert float(row["step_s"]) == pytest.approx(0.71 * 1.2e-3, rel=0.2)
    assert float(row["throughput_per_s"]) == pytest.approx(64 / float(row["step_s"]))
    assert float(row["throughput_low_per_s"]) == pytest.approx(64 / float(row["step_high_s"]))
    assert (row["pairs"], row["verdict"], row["peak_bytes"]) == ("10", "different", str(150.0 * 2**20))
    assert row["first_call_cold_s"] == "11.3"


def test_reasons_are_whole_in_the_file(short_study):
    long = "word " * 200 + "end"
    short_study.end("jax:eager", "mlp-train", "failed", "build", long)
    row = next(row for row in read(short_study) if row["workload"] == "mlp-train" and row["reason"] == long)
    assert (row["status"], row["stage"], row["step_s"]) == ("failed", "build", "")


def test_imports_that_shared_the_processors_stand_apart(long_study):
    long_study.records = [
        replace(r, import_s=1.0 + r.round, import_alone=r.round == 0 and r.cell.environment != "jax")
        for r in long_study.records
    ]
    rows = read(long_study)
    assert {(row["import_alone_s"], row["import_shared_s"]) for row in rows if row["environment"] != "jax"} == {
        ("1.0", "6.0")
    }
    assert {(row["import_alone_s"], row["import_shared_s"]) for row in rows if row["environment"] == "jax"} == {
        ("", "5.5")
    }


def test_unsteady_cells_and_the_ratios_to_them_are_told(long_study):
    long_study.disturb("torch1:eager", "mlp-train")
    rows = {(row["environment"], row["mode"], row["workload"]): row for row in read(long_study)}
    baseline, other = rows["torch1", "eager", "mlp-train"], rows["jax", "jit", "mlp-train"]
    assert baseline["unsteady"].startswith("unsteady: in 1 of 10 processes")
    assert (baseline["cpu_per_wall"], baseline["baseline_unsteady"]) == ("2.0", "")
    assert (other["unsteady"], other["baseline_unsteady"]) == ("", "true")
    assert rows["jax", "jit", "dispatch"]["baseline_unsteady"] == "false"


@given(st.text(max_size=30))
@example("=HYPERLINK(1)")
@example("+1")
@example("-1")
@example("@SUM(A1)")
@example("\t=1")
@example("a\rb\r\nc")
@example('a"b,c\nd')
def test_text_comes_back_and_is_never_a_formula(text):
    file = io.StringIO()
    standard.writer(file, lineterminator="\n").writerow([csv.quote(text), "end"])
    ((found, end),) = standard.reader(io.StringIO(file.getvalue(), newline=""))
    assert end == "end"
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    assert found in (unified, f"'{unified}")
    assert not found.startswith(csv.FORMULA)


def test_lone_surrogates_do_not_prevent_the_file():
    assert csv.quote("a\ud800b") == "a?b"


def test_negative_numbers_stay_numbers():
    assert csv.quote(-1.5) == -1.5
