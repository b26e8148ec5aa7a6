"""Makes the tables of the pages of public implementations out of the file of their rows.

    nox -s benchmarks -- public_tables [--write]

Prints the pages, or writes them. A table stands between two comments, as ``<!-- libraries: begin -->``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench.host.reporting.renderers.markdown import anchors
from bench.host.reporting.words.labels import short_version
from benchmarks._public_rows import COLUMNS, FILE, LIMIT, WORKLOADS, Row, load

#: The folder of the pages.
DOCS = FILE.parent
PAGE = "public-implementations.md"
PROGRAMS = "public-implementations/public-programs.md"
#: {group: the page of its rows}
PAGES = {
    "usual": "public-implementations/usual-modes.md",
    "requested": "public-implementations/modes-on-request.md",
    "libraries": "public-implementations/libraries.md",
}
TITLES = {"usual": "usual modes", "requested": "modes on request", "libraries": "libraries"}
#: Each group in the sizes that were compared.
SETS = (("usual", "tiny"), ("usual", "small"), ("requested", "tiny"), ("libraries", "tiny"))
#: {environment: its name for people, with a place for the version}
NAMES = {
    "torch1": "PyTorch {}", "torch2": "PyTorch {}", "tf2": "TensorFlow {}", "jax": "JAX {}",
    "jax-grain": "JAX {} with Grain", "keras-tf": "Keras {} on TensorFlow", "keras-jax": "Keras {} on JAX",
    "keras-torch": "Keras {} on PyTorch", "keras2-tf": "Keras {}", "flax": "Flax {}", "haiku": "Haiku",
    "lightning": "Lightning", "tflite": "TensorFlow Lite", "tf1": "TensorFlow {}",
    "tf2-session": "TensorFlow {}, tf.compat.v1", "theano": "Theano", "torch-xla": "PyTorch/XLA",
}  # fmt: skip
#: {family and model of a processor, as a run records them: its generation}. A virtual Xeon does not tell its own.
GENERATIONS = {"family 25, model 17": "Zen 4", "family 26, model 2": "Zen 5"}
NO_BREAK = "\u00a0"
FIGURES = ("median", "highest", "not certain")

#: Returns the heading and the lines of a table.
Table = Callable[[list[Row]], Iterator[list[str]]]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("nox -s benchmarks -- public_tables")
    parser.add_argument("--write", action="store_true", help="write the pages")
    options = parser.parse_args(arguments)
    for place, text in pages(DOCS, load()).items():
        if options.write:
            (DOCS / place).write_text(text, encoding="utf-8")
        else:
            print(text, end="")
    return 0


def pages(folder: Path, rows: list[Row]) -> dict[str, str]:
    """Return the text of each page below a folder, with the tables of these rows."""
    texts: dict[str, str] = {}
    for name, (place, lines) in TABLES.items():
        text = texts[place] if place in texts else (folder / place).read_text(encoding="utf-8")
        begin, end = (f"<!-- {name}: {word} -->" for word in ("begin", "end"))
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise SystemExit(f"{place} has no place for the table {name}: write {begin} and {end} where it shall be.")
        texts[place] = before + "\n".join([begin, *lines(rows), end]) + after
    return texts


def grid(table: Table) -> Callable[[list[Row]], list[str]]:
    def lines(rows: list[Row]) -> list[str]:
        heading, *others = table(rows)
        return list(map(written, [heading, ["---"] * len(heading), *others]))

    return lines


def sections(group: str, table: Table) -> Callable[[list[Row]], list[str]]:
    """Write the rows of each framework as a table of its own below its name."""

    def lines(rows: list[Row]) -> list[str]:
        of_each = frameworks(rows, group).items()
        return ["", *(line for name, found in of_each for line in (f"## {name}", "", *grid(table)(found), ""))]

    return lines


def written(line: list[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in line).replace(" --- ", "---") + "|"


def frameworks(rows: list[Row], group: str) -> dict[str, list[Row]]:
    """Return the rows of a group by the names of their frameworks."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if (row.environment, row.mode) in COLUMNS[group]:
            found.setdefault(framework(row), []).append(row)
    return found


def cells(rows: list[Row], group: str, size: str) -> list[list[Row]]:
    """Return the rows of each cell of a group: the one beside all public forms first, if there is one."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if (row.environment, row.mode) in COLUMNS[group] and row.size == size:
            found.setdefault(row.cell, []).append(row)
    return list(found.values())


def counts(found: list[list[Row]]) -> list[str]:
    """Return median and maximum of the ratios, how many are above the limit, and how many third quartiles."""
    ratios = [float(row.ratio) for row, *_ in found]
    # As the page shows them: 1.053 is 1.05.
    above = sum(round(value, 2) > LIMIT for value in ratios)
    uncertain = sum(round(float(row.high), 2) > LIMIT for row, *_ in found)
    return [f"{median(ratios):.2f}", f"{max(ratios):.2f}", str(above), str(uncertain)]


def summary(rows: list[Row]) -> Iterator[list[str]]:
    yield ["comparisons", "rows", "ours / public, median", "highest", "above 1.05", "not certain"]
    for group, size in SETS:
        found = cells(rows, group, size)
        yield [f"[{TITLES[group]}]({PAGES[group]}), size {size}", str(len(found)), *counts(found)]


def by_mode(group: str, page: str) -> Table:
    """Make the table of each mode of a group in its sizes. The names of frameworks lead to the rows on a page."""
    sizes = [size for of, size in SETS if of == group]
    several = len(sizes) > 1

    def table(rows: list[Row]) -> Iterator[list[str]]:
        yield ["framework", "mode", *(["size"] if several else []), "rows", *FIGURES]
        for name, found in frameworks(rows, group).items():
            link = linked(name, page)
            for mode in modes(found):
                first = [link, f"`{mode}`"]
                for size in sizes:
                    if chosen := cells([row for row in found if row.mode == mode], group, size):
                        yield [*first, *([size] if several else []), *figures(chosen)]
                        first = ["", ""]
                link = ""

    return table


def by_framework(group: str) -> Table:
    def table(rows: list[Row]) -> Iterator[list[str]]:
        yield ["framework", "modes", "rows", *FIGURES]
        for name, found in frameworks(rows, group).items():
            names = ", ".join(f"`{mode}`" for mode in modes(found))
            yield [linked(name, PAGES[group]), names, *figures(cells(found, group, "tiny"))]

    return table


def figures(found: list[list[Row]]) -> list[str]:
    """Return the number of cells, and of their ratios what ``FIGURES`` names."""
    middle, highest, _, uncertain = counts(found)
    return [str(len(found)), middle, highest, uncertain]


def usual(rows: list[Row]) -> Iterator[list[str]]:
    yield ["workload", "mode", "best public", "tiny", "middle half", "small", "middle half"]
    small = {row.cell[:-1]: [ratio(row), middle_half(row)] for row, *_ in cells(rows, "usual", "small")}
    for row, *_ in sorted(cells(rows, "usual", "tiny"), key=lambda found: WORKLOADS.index(found[0].workload)):
        beside = small.get(row.cell[:-1], ["", ""])
        yield [row.workload, f"`{row.mode}`", row.public, ratio(row), middle_half(row), *beside]


def other(group: str) -> Table:
    def table(rows: list[Row]) -> Iterator[list[str]]:
        yield ["mode", "workload", "best public", "ours / public", "middle half"]
        for row, *alone in cells(rows, group, "tiny"):
            ratios = [ratio(row), *(f"beside this form alone {ratio(one)}" for one in alone)]
            halves = "; ".join(map(middle_half, [row, *alone]))
            yield [f"`{row.mode}`", row.workload, row.public, "; ".join(ratios), halves]

    return table


def machines(rows: list[Row]) -> Iterator[list[str]]:
    yield ["machine", *(f"{TITLES[group]}, {size}" for group, size in SETS)]
    found = [Counter(machine(row) for row, *_ in cells(rows, *chosen)) for chosen in SETS]
    for name in sorted(set().union(*found)):
        yield [name, *(str(of_each[name] or "") for of_each in found)]


def modes(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row.mode for row in rows))


def framework(row: Row) -> str:
    return NAMES[row.environment].format(short_version(row.version))


def machine(row: Row) -> str:
    name = re.sub(r"\(R\)| Processor", "", row.machine)
    return re.sub(r"family \d+, model \d+", lambda found: GENERATIONS.get(found[0], found[0]), name)


def linked(name: str, page: str) -> str:
    return f"[{name}]({page}#{anchors([f'## {name}'])[0]})"


def ratio(row: Row) -> str:
    return f"{float(row.ratio):.2f}"


def middle_half(row: Row) -> str:
    return NO_BREAK.join((f"{float(row.low):.2f}", "to", f"{float(row.high):.2f}"))


#: {table: its page, and what returns its lines}
TABLES = {
    "summary": (PAGE, grid(summary)),
    "usual modes": (PAGE, grid(by_mode("usual", PAGES["usual"]))),
    "frameworks, modes on request": (PAGE, grid(by_framework("requested"))),
    "frameworks, libraries": (PAGE, grid(by_framework("libraries"))),
    "usual": (PAGES["usual"], sections("usual", usual)),
    "modes on request": (PAGES["requested"], grid(by_mode("requested", ""))),
    "requested": (PAGES["requested"], sections("requested", other("requested"))),
    "modes of libraries": (PAGES["libraries"], grid(by_mode("libraries", ""))),
    "libraries": (PAGES["libraries"], sections("libraries", other("libraries"))),
    "machines": (PROGRAMS, grid(machines)),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
