"""Collects what the page shows: the answer, the cells, the machine, the environments and the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.cell import Cell

from ...analysis import peaks
from ...analysis.baselines import baselines_of
from ...analysis.profiles import common_steps
from ...analysis.quality import NOISY_TIME, Quality
from ...analysis.results import Result, columns_of
from ...analysis.speed_ups import FEWEST_ROWS, LEAST_SHARE
from ...statistics.verdict import Verdict
from ...storage import worker_logs
from ...storage.manifest import Manifest
from ...study import location
from ...study.baseline import CHOSEN, RATIO
from ..tables.rows import measured_baseline, rows_of
from ..tables.speedup_values import HUNDREDTHS, NEAR_ONE
from ..tables.table import Table
from ..tables.times import notes_on_shown_ratio
from ..words import page as words
from ..words.answer import EXPLAINED, MARKS, VERDICTS, WITHHELD, alarm, failures, part
from ..words.caption import describe_conditions
from ..words.labels import Label, in_order, labels_of
from ..words.language import decimal_sign
from ..words.page_comparisons import compared_with
from ..words.row_names import row_name, threads_in_words, unnamed_conditions, usual_facets
from ..words.terms import items_word, status_word
from ..words.text import first_words
from . import cells
from .looks import looks_of

if TYPE_CHECKING:
    from ..report import Report

#: Remarks that explain marks: the page has a legend of its own, and shows the settings.
LEGENDS = tuple(f"{mark} " for mark in (*MARKS.values(), *VERDICTS.values(), EXPLAINED) if mark)


def of_report(report: Report) -> dict[str, Any]:
    """Return the content of the page, ready for JSON."""
    results, manifest = report.analysis.results, report.manifest
    labels, rows = labels_of(results), rows_of(results)
    # As in the tables, whose means depend on the order.
    columns = in_order(columns_of(results), labels)
    baseline, usual = measured_baseline(results, manifest), usual_facets(results)
    looks = looks_of(columns, labels, baseline)
    as_ratios = manifest.study.ratios == RATIO
    explained = report.speed_ups.explained if report.speed_ups is not None else {}
    return {
        "language": report.language.name,
        "decimal": decimal_sign(),
        "words": words.of_page(as_ratios=as_ratios),
        # Whether numbers say how many times as long a cell takes, instead of how many times as fast it is.
        "asRatios": as_ratios,
        "title": report.title,
        **_answer(report),
        "compared": _compared(report),
        "conditions": " ".join(filter(None, (unnamed_conditions(results), describe_conditions(manifest, results)))),
        "run": {
            "name": manifest.run,
            "started": manifest.started,
            "profile": manifest.profile.name,
            "baseline": manifest.study.baseline,
            # What the command named beside the run and the baseline; a folder in place of the run.
            "chosenBy": report.chosen_by,
            # What a command needs not name is left out.
            "matrix": "" if manifest.study.file == location.NAME else manifest.study.file,
        },
        "baseline": None if baseline in CHOSEN else baseline,
        # What the page compares with at first.
        "start": columns[0] if baseline in CHOSEN and columns else baseline,
        "marks": {
            "grades": {grade.value: mark for grade, mark in MARKS.items()},
            "verdicts": {verdict.value: VERDICTS.get(verdict, "") for verdict in Verdict},
            "withheld": WITHHELD,
            "explained": EXPLAINED,
        },
        "meanings": {"grades": words.grades(), "verdicts": words.verdicts()},
        "nearOne": {"verdict": Verdict.DIFFERENT.value, "below": NEAR_ONE, "digits": HUNDREDTHS},
        "fewestRows": FEWEST_ROWS,
        "means": _means(report),
        "leastShare": LEAST_SHARE,
        "noisyTime": NOISY_TIME,
        "usable": [grade.value for grade in Quality if grade.usable],
        "threads": {str(count): threads_in_words(count) for count in sorted({one.cell.threads for one in results})},
        "columns": [
            _column(column, labels[column], results, explained.get(column, ())) | {"look": looks[column]}
            for column in columns
        ],
        "rows": [_row(row[0].cell, usual) for row in rows.values()],
        **_cells(report, columns),
        "roofs": _roofs(results, manifest),
        "machine": words.machine(manifest.machine),
        "claims": _texts(report.claims[0], notes=True) if report.claims else None,
        "settings": None if report.settings is None else _texts(report.settings),
        "environments": [_environment(name, facts) for name, facts in manifest.environments.items()],
        "method": words.method(),
    }


def _answer(report: Report) -> dict[str, Any]:
    """Say which column is fastest, by how much and how sure that is; above it, what makes the run doubtful.

    The finding is what a reader came for. A banner takes its place only where there is none. What is ``lasting`` holds
    with any baseline that a reader may choose.
    """
    table = report.speed_up_table
    if table is None:
        return {"banner": "", "answer": [], "lasting": []}
    doubts = [*filter(None, [table.banner]), *map(first_words, alarm(report.manifest))]
    findings = [text for text in table.sentences if text not in doubts]
    remarks = [text for text in table.remarks if not text.startswith(LEGENDS)]
    answer = [*(findings or doubts), *table.more, *remarks]
    measured = report.speed_ups.results if report.speed_ups is not None else ()
    of_run = {*doubts, *map(first_words, (*part(report.manifest), *failures(measured)))}
    return {
        "banner": " ".join(doubts) if findings else "",
        "answer": answer,
        "lasting": [text for text in answer if text in of_run],
    }


def _means(report: Report) -> dict[str, Any] | None:
    """Give the intervals of the means that the page shows at first; the figure has the same."""
    found = report.speed_ups
    if found is None or not found.tracks:
        return None
    track = found.tracks[0]
    means = {column: found.shown_estimate(mean) for column, mean in report.ranked.means(track).items()}
    intervals = {column: (mean.low, mean.high) for column, mean in means.items()}
    return {"device": track.device, "threads": str(track.threads), "rows": track.rows, "intervals": intervals}


def _compared(report: Report) -> str:
    """Name what the sentences of the answer compare with: on the page, no caption stands above them."""
    found = report.speed_ups
    if found is None or len(found.columns) < 2:
        return ""
    return compared_with(found.baseline_name, as_ratios=found.as_ratios)


def _cells(report: Report, columns: list[str]) -> dict[str, Any]:
    rows = rows_of(report.analysis.results)
    texts, facts = cells.Pool(), cells.Pool()
    share = max(cells.FEWEST_POINTS, cells.ALL_POINTS // max(1, len(report.analysis.results)))
    numbers = {column: number for number, column in enumerate(columns)}
    bases = baselines_of(report.analysis.results, report.manifest.study.baseline)
    baseline = measured_baseline(report.analysis.results, report.manifest)
    steps = common_steps(report.analysis.results)
    written = []
    for number, row in enumerate(rows.values()):
        written += [
            cells.write(
                result,
                notes_on_shown_ratio(result, bases.get(result.cell), baseline),
                number,
                numbers[result.cell.column],
                texts,
                facts,
                share,
                _log(report, result),
                steps.get(result.cell),
            )
            for result in row
        ]
    return {
        "fields": cells.FIELDS,
        "digits": cells.DIGITS,
        "cells": written,
        "texts": texts.values,
        "facts": facts.values,
        "statuses": {result.status: status_word(result.status) for result in report.analysis.results},
        "items": {fact["item"]: items_word(fact["item"]) for fact in facts.values if fact["item"]},
    }


def _log(report: Report, result: Result) -> str | None:
    """Return the end of a log of a cell that has no time: of the last process that ended as the cell did."""
    if report.folder is None or result.step is not None:
        return None
    ended = (record for record in reversed(result.records) if record.status == result.status)
    return next(filter(None, (worker_logs.tail(report.folder, record) for record in ended)), None)


def _roofs(results: Sequence[Result], manifest: Manifest) -> list[dict[str, Any]]:
    """Return the best rates that were measured, of the fastest cache and of main memory, for what rows share."""
    found = []
    for device, precision, threads in dict.fromkeys((r.cell.device, r.cell.precision, r.cell.threads) for r in results):
        peak = peaks.combine(manifest.peaks, device, precision, threads)
        if peak.flops_per_s and peak.bandwidths:
            rates = {
                "flops": peak.flops_per_s,
                "cache": max(rate for _size, rate in peak.bandwidths),
                "bandwidth": peak.bandwidths[-1][1],
            }
            found.append({"device": device, "precision": precision, "threads": threads, **rates})
    return found


def _column(column: str, label: Label, results: Sequence[Result], differing: Sequence[str]) -> dict[str, Any]:
    """Name a column, and the settings that may explain its speed-ups over the baseline of the report."""
    result = next(result for result in results if result.cell.column == column)
    cell = result.cell
    return {
        "id": column,
        "label": label.text,
        "product": result.names.product,
        "release": label.release,
        "version": label.version,
        "mode": cell.mode,
        "framework": cell.framework,
        "environment": cell.environment,
        "differing": list(differing),
    }


def _texts(table: Table, *, notes: bool = False) -> dict[str, Any]:
    """Return a table as the texts that it shows; with ``notes``, those of an entry stand behind it."""
    return {
        "title": table.title,
        "caption": table.caption,
        "columns": [column.title for column in table.columns],
        "rows": [
            [": ".join((entry.text, *(entry.notes if notes else ()))) for entry in row]
            for group in table.groups
            for row in group.rows
        ],
    }


def _row(cell: Cell, usual: Sequence[str | None]) -> dict[str, str]:
    axes = {name: str(getattr(cell, name)) for name in ("workload", "size", "precision", "device", "threads")}
    return {**axes, "name": row_name(cell, usual)}


def _environment(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    interpreter = facts.get("interpreter")
    return {
        "name": name,
        "python": str(interpreter.get("version", "")) if isinstance(interpreter, Mapping) else "",
        "provider": str(facts.get("provider") or ""),
        "requirements": [str(one) for one in facts.get("requirements") or ()],
        "lock": str(facts.get("lock_hash") or ""),
        "packages": {str(key): str(value) for key, value in (facts.get("packages") or {}).items()},
    }
