from __future__ import annotations

import csv
import io

from bench.host.reporting import report
from bench.host.reporting.outputs import ranking_csv


def test_the_file_has_a_row_per_column_and_plain_numbers(tmp_path, long_study):
    (path,) = ranking_csv.write(report.make(long_study.records, long_study.manifest), tmp_path)
    rows = {row["column"]: row for row in csv.DictReader(io.StringIO(path.read_text()))}
    assert len(rows) == 8
    assert rows["torch1:eager"]["ratio"] == "1.0"
    assert (rows["jax:jit"]["rank"], rows["jax:jit"]["share_within_1.25"], rows["jax:jit"]["rows"]) == ("1", "1.0", "3")


def test_a_run_without_a_ranking_has_the_heading_alone(tmp_path, long_study):
    long_study.records = [r for r in long_study.records if r.cell.workload != "dispatch"]
    (path,) = ranking_csv.write(report.make(long_study.records, long_study.manifest), tmp_path)
    assert path.read_text().count("\n") == 1
