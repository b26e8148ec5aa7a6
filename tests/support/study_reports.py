"""Makes the report of a study once, and finds tables, rows and entries in it."""

from __future__ import annotations

import pickle
from functools import lru_cache

from bench.host.analysis.run_analysis import analyse
from bench.host.reporting import report
from bench.host.reporting.tables.speedup_values import speed_ups
from bench.host.reporting.tables.speedups import summarise
from bench.host.reporting.tables.table import Entry, Table
from bench.host.reporting.words.labels import labels_of


def report_of(study) -> report.Report:
    """Return the report of a study in English, the same object until the study changes.

    A test that changes how reports are made makes its own.
    """
    return _report(pickle.dumps((study.records, study.manifest)))


@lru_cache(maxsize=2)
def _report(pickled: bytes) -> report.Report:
    return report.make(*pickle.loads(pickled))


def tables(study) -> tuple[Table, Table]:
    made = report_of(study)
    return made.summary, made.details


def speed_up_table(study, manifest=None) -> Table | None:
    """Return the table with which a run ends; ``manifest`` in place of the study's, if any."""
    manifest = manifest or study.manifest
    found = speed_ups(analyse(study.records, manifest), manifest)
    return None if found is None else summarise(found, manifest)


def name_of(study, column: str) -> str:
    """Return what tables call a column."""
    return labels_of(report_of(study).analysis.results)[column].text


def detail_row(study, column: str, workload: str) -> dict[str, Entry]:
    table = tables(study)[1]
    group = next(group for group in table.groups if group.heading.text.startswith(workload))
    row = next(row for row in group.rows if row[0].text == name_of(study, column))
    return dict(zip((column.title for column in table.columns), row, strict=True))


def summary_entry(study, column: str, workload: str) -> Entry:
    table = tables(study)[0]
    row = next(row for row in table.groups[0].rows if row[0].text.startswith(workload))
    return row[[known.named for known in table.columns].index(name_of(study, column))]
