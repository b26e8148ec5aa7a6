"""Makes the page that shows for every workload and column the committed run with its time, or why there is none.

    nox -s benchmarks -- committed_times [--write]

Prints the page, or writes it. A folder of ``reports/reference/`` that is new or has changed changes the page.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence

from bench.host.analysis.quality import Quality
from bench.host.analysis.results import EXCLUDED
from bench.host.reporting.renderers.markdown import anchors, escape, grid, superscript
from bench.host.reporting.tables.table import Entry, letters, mark
from bench.host.reporting.words.answer import MARKS
from bench.host.reporting.words.numbers import TIMES, choose_unit, format_factor
from bench.host.reporting.words.quality import meaning
from bench.host.reporting.words.terms import enumerate_names
from bench.host.reporting.words.text import EMPTY
from benchmarks._committed_lines import Line
from benchmarks._committed_runs import FOLDER, load
from benchmarks._committed_tables import Part, parts_of

PAGE = FOLDER / "times.md"
NO_BREAK = "\u00a0"
HEAD = """# Where each workload is timed

**{timed:,} pairs of a workload and a column have a time.** A column is a version of a framework with one of its modes;
there are {columns} columns and {workloads} workloads. {without:,} other pairs have a reason: {statuses}. The rest is in
no run: its place is empty, or its row is missing.

{overview}

- **A time** is the median of a step in two digits, and leads to its run. The run has the interval, the settings and
  every sample. A table names its usual precision, threads and processor, and the size of each row. A letter leads to
  what differs.
- **Of several runs** a table has the time under its usual conditions, then the one of the most processes, then the
  newest. Some runs have [older programs](README.md). The workloads' pages on the documentation's site (`nox -s docs`)
  have the best time under all conditions.
- **Compare times in a row only**, and only without letters. They may come from different runs;
  [the runs](README.md) have ratios with intervals.
- `{noisy}` {noisy_means}. `{unsteady}` {unsteady_means}. `disturbed`: other programs were computing, so there is no
  time to compare.
- `{excluded}`: the study leaves the pair out. A letter leads to the reason of this and every other
  [status](../../docs/columns.md#resultscsv). See also [what each mode runs](../../docs/frameworks.md).
"""
FOOT = """
`nox -s benchmarks -- committed_times --write` makes this page out of the runs in `reports/reference/`.
"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("nox -s benchmarks -- committed_times")
    parser.add_argument("--write", action="store_true", help="write the page")
    text = page(load())
    if parser.parse_args(arguments).write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


def page(lines: Sequence[Line]) -> str:
    """Return the page of these lines."""
    parts = list(parts_of(lines))
    found = [line for part in parts for line in part.lines]
    statuses = Counter(line.status for line in found if line.step is None)
    head = HEAD.format(
        timed=sum(part.timed for part in parts),
        columns=sum(len(part.columns) for part in parts),
        workloads=len({line.workload for line in found}),
        without=statuses.total(),
        statuses=enumerate_names([f"{count:,} {status}" for status, count in statuses.most_common()]),
        overview=overview(parts),
        noisy=MARKS[Quality.NOISY],
        noisy_means=meaning(Quality.NOISY),
        unsteady=MARKS[Quality.UNSTEADY],
        unsteady_means=meaning(Quality.UNSTEADY),
        excluded=EMPTY,
    )
    tables = [f"## {escape(part.title)}\n\n{table(part)}\n" for part in parts]
    return "\n".join([head, *tables]) + FOOT


def overview(parts: Sequence[Part]) -> str:
    """Return a table of the tables, which leads to each."""
    links = anchors([HEAD, *(f"## {part.title}" for part in parts)])[1:]
    rows = []
    for part, name in zip(parts, links, strict=True):
        modes = ", ".join(dict.fromkeys(f"`{column.mode}`" for column in part.columns))
        rows.append([f"[{escape(part.title)}](#{name})", modes, str(len(part.rows)), str(part.timed)])
    return grid(["table", "modes", "workloads", "times"], rows, [False, False, True, True], narrow=True)


def table(part: Part) -> str:
    """Return the table of a part: a row per workload, a column per column, and below it what the letters mean."""
    entries = {name: [entry(row.get(column), part) for column in part.columns] for name, row in part.rows.items()}
    notes = dict.fromkeys(note for row in entries.values() for each in row for note in each.notes)
    marks = dict(zip(notes, letters(), strict=False))
    same = len({column.release for column in part.columns}) == 1
    titles = ["workload", *(escape(column.mode if same else column.text) for column in part.columns)]
    rows, left_out = [], defaultdict[str, list[str]](list)
    for name, row in entries.items():
        of_row = ", ".join(filter(None, (linked(name), part.sizes.get(name))))
        if all(line.status == EXCLUDED for line in part.rows[name].values()):
            its_notes = tuple(note for each in row for note in each.notes)
            left_out[superscript(mark(Entry("", its_notes), marks))].append(linked(name))
        else:
            rows.append([of_row, *(each.text + superscript(mark(each, marks)) for each in row)])
    shown = grid(titles, rows, [False, *(True for _ in part.columns)], narrow=True)
    names = "; ".join(", ".join(names) + letter for letter, names in left_out.items())
    below = "<br>\n".join(f"{superscript(letter)} {escape(note)}" for note, letter in marks.items())
    above = f"{', '.join(part.others)}, where no letter says otherwise."
    return "\n\n".join(filter(None, (above, shown, names and f"Left out by their studies: {names}.", below)))


def linked(workload: str) -> str:
    return f"[{workload}](../../bench/workloads/{workload.replace('-', '_')}/page.md)"


def entry(line: Line | None, part: Part) -> Entry:
    """Return what stands in one place of a table, as Markdown: the time as a link, the status, or nothing."""
    if line is None:
        return Entry("")
    if line.step is None:
        return Entry(EMPTY if line.status == EXCLUDED else escape(line.status), (line.reason,) if line.reason else ())
    unit = choose_unit([line.step.value], TIMES)
    time = NO_BREAK.join((format_factor(line.step.value / unit.size), unit.name)) + escape(MARKS[Quality(line.quality)])
    expected = part.sizes.get(line.workload, ""), *part.others
    other = ", ".join(one for one, usual in zip(line.conditions, expected, strict=True) if one != usual)
    return Entry(f"[{time}]({line.run})", (other,) if other else ())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
