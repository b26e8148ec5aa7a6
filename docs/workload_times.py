"""Writes the section of a workload's page with its times in the committed runs, and why columns have none."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from bench.host.analysis.quality import Quality
from bench.host.reporting.words.numbers import TIMES, choose_unit, format_interval, format_value
from bench.host.reporting.words.terms import enumerate_names
from benchmarks._committed_lines import DISTURBED, Column, Line, best
from benchmarks._committed_runs import FOLDER, load

#: From the page of the site to the committed runs.
RUNS = "../../../reports/reference"
#: What opens markup in a line of a table of Python-Markdown.
MARKUP = re.compile(r"([\\`*_\[\]|])")
HEADING = "| framework and mode | {unit} | interval | precision | threads | processor | processes | quality | run |"
RULE = "|---|--:|---|---|--:|---|--:|---|---|"


def section(name: str, lines: Iterable[Line] | None = None) -> str:
    """Return the section of a workload, out of the lines of all committed runs where none are given."""
    its = [line for line in (load() if lines is None else lines) if line.workload == name]
    chosen = sorted(best(its, lambda line: (line.column, line.conditions)).values(), key=lambda line: line.place)
    measured = [line for line in chosen if line.step is not None or line.status == DISTURBED]
    timed = {line.column for line in measured if line.step is not None}
    parts = [
        "## Times\n",
        f"{len(timed)} columns have a time in a [committed run]({RUNS}/README.md); a column is a framework's version "
        "with one of its modes. A line has the best run of a column under its conditions: undisturbed, then with the "
        "most processes, then the newest. Two runs were not measured side by side: ratios are in the runs. "
        f"[Other workloads]({RUNS}/times.md).\n",
    ]
    sizes = Counter(line.size for line in measured)
    usual = max(sizes, key=lambda size: sizes[size], default="")
    for size in sizes:
        parts.append(times(size, [line for line in measured if line.size == size], is_open=size == usual))
    return "\n".join([*parts, without([line for line in chosen if line not in measured], timed)])


def times(size: str, lines: Sequence[Line], *, is_open: bool) -> str:
    """Return the table of one size."""
    unit = choose_unit([line.step.value for line in lines if line.step], TIMES)
    rows = [HEADING.format(unit=f"time ({unit.name})"), RULE]
    for line in lines:
        grade = Quality(line.quality)
        written = [
            escape(line.column.text),
            format_value(line.step, unit.size),
            format_interval(line.step, unit.size),
            line.precision,
            str(line.threads),
            escape(line.processor),
            str(line.processes),
            "" if grade is Quality.CLEAN else grade.value,
            run(line),
        ]
        rows.append(f"| {' | '.join(written)} |")
    count = len({line.column for line in lines if line.step is not None})
    return folded(f"{size}: {count} column{'s' * (count != 1)} with a time", rows, is_open=is_open)


def without(lines: Iterable[Line], timed: Iterable[Column]) -> str:
    """Return a table of the columns without a time by their reasons; one with other times names its conditions."""
    reasons: dict[tuple[str, str, str], dict[Column, Line]] = defaultdict(dict)
    for line in lines:
        where = f"{line.size}, {line.precision}" if line.column in timed else ""
        reasons[line.status, line.reason, where].setdefault(line.column, line)
    if not reasons:
        return ""
    rows = ["| status | why | at | columns | runs |", "|---|---|---|---|---|"]
    for (status, reason, where), found in sorted(reasons.items()):
        runs = ", ".join(dict.fromkeys(map(run, found.values())))
        rows.append(f"| {status} | {escape(reason)} | {where} | {columns_in_words(found)} | {runs} |")
    return folded("Without a time", rows)


def folded(title: str, rows: Iterable[str], *, is_open: bool = False) -> str:
    """Put a table below a title that opens and closes it; site.css makes its rows low."""
    table = "\n".join(f"    {row}" for row in rows)
    return f'???{"+" * is_open} times "{title}"\n\n{table}\n'


def columns_in_words(columns: Iterable[Column]) -> str:
    """Name columns by their releases, each with its modes: ``JAX 0.10 jit and eager; NumPy 2.4 eager``."""
    releases: dict[str, list[str]] = defaultdict(list)
    for column in columns:
        releases[column.release].append(column.mode)
    return "; ".join(escape(f"{release} {enumerate_names(modes)}") for release, modes in releases.items())


def run(line: Line) -> str:
    """Link the run of a line: to its page, or else to its table."""
    file = next(name for name in ("README.md", "table.md") if (FOLDER / line.run / name).exists())
    return f"[{escape(line.run)}]({RUNS}/{line.run}/{file})"


def escape(text: str) -> str:
    """Write a text so that the site shows it as it is within a table."""
    return MARKUP.sub(r"\\\1", html.escape(text, quote=False))
