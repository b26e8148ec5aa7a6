"""Makes the tables of the page of public implementations out of the file of their rows.

    nox -s benchmarks -- public_tables [--write]

Prints the page, or writes it. A table stands between two comments, as ``<!-- libraries: begin -->``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from statistics import median

from bench.host.reporting.words.labels import RELEASE
from benchmarks._public_rows import COLUMNS, FILE, LIMIT, WORKLOADS, Row, load

PAGE = FILE.with_suffix(".md")
#: {environment: its name for people, with a place for the version}
NAMES = {
    "torch1": "PyTorch {}", "torch2": "PyTorch {}", "tf2": "TensorFlow {}", "jax": "JAX {}",
    "jax-grain": "JAX {} with Grain", "keras-tf": "Keras {} on TensorFlow", "keras-jax": "Keras {} on JAX",
    "keras-torch": "Keras {} on PyTorch", "keras2-tf": "Keras {}", "flax": "Flax {}", "haiku": "Haiku",
    "lightning": "Lightning", "tflite": "TensorFlow Lite", "tf1": "TensorFlow {}",
    "tf2-session": "TensorFlow {}, tf.compat.v1", "theano": "Theano", "torch-xla": "PyTorch/XLA",
}  # fmt: skip
#: {what the first table calls it: its rows}
COUNTED = {
    "[usual modes](#usual-modes), size tiny": ("usual", "tiny"), "usual modes, size small": ("usual", "small"),
    "[modes on request](#modes-on-request), size tiny": ("requested", "tiny"),
    "[libraries](#libraries), size tiny": ("libraries", "tiny"),
}  # fmt: skip


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("nox -s benchmarks -- public_tables")
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args(arguments)
    text = page(PAGE.read_text(encoding="utf-8"), load())
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


def page(text: str, rows: list[Row]) -> str:
    """Return the page with the tables of these rows."""
    for name, table in TABLES.items():
        begin, end = (f"<!-- {name}: {word} -->" for word in ("begin", "end"))
        before, place, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (place and closed):
            raise SystemExit(f"{PAGE} has no place for the table {name}: write {begin} and {end} where it shall be.")
        heading, *lines = table(rows)
        made = map(written, [heading, ["---"] * len(heading), *lines])
        text = before + "\n".join([begin, *made, end]) + after
    return text


def written(line: list[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in line).replace(" --- ", "---") + "|"


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
    for name, chosen in COUNTED.items():
        found = cells(rows, *chosen)
        yield [name, str(len(found)), *counts(found)]


def usual(rows: list[Row]) -> Iterator[list[str]]:
    yield ["workload", "framework, mode", "best public", "ours / public", "middle half", "small", "middle half"]
    small = {row.cell[:-1]: [ratio(row), middle_half(row)] for row, *_ in cells(rows, "usual", "small")}
    for row, *_ in sorted(cells(rows, "usual", "tiny"), key=lambda found: WORKLOADS.index(found[0].workload)):
        beside = small.get(row.cell[:-1], ["", ""])
        yield [row.workload, column(row), row.public, ratio(row), middle_half(row), *beside]


def other(group: str) -> Callable[[list[Row]], Iterator[list[str]]]:
    def table(rows: list[Row]) -> Iterator[list[str]]:
        yield ["framework, mode", "workload", "best public", "ours / public", "middle half"]
        for row, *alone in cells(rows, group, "tiny"):
            ratios = [ratio(row), *(f"beside this form alone {ratio(one)}" for one in alone)]
            halves = "; ".join(map(middle_half, [row, *alone]))
            yield [column(row), row.workload, row.public, "; ".join(ratios), halves]

    return table


def column(row: Row) -> str:
    release = RELEASE.match(row.version)
    return f"{NAMES[row.environment].format(release[0] if release else row.version)} {row.mode}"


def ratio(row: Row) -> str:
    return f"{float(row.ratio):.2f}"


def middle_half(row: Row) -> str:
    return f"{float(row.low):.2f} to {float(row.high):.2f}"


TABLES = {"summary": summary, "usual": usual, "requested": other("requested"), "libraries": other("libraries")}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
