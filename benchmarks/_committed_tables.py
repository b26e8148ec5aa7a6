"""Divides the columns of the committed runs into tables that fit a page, and chooses the line of each place in them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bench.host.reporting.words.terms import enumerate_names
from bench.registry import BUILT_IN
from benchmarks._committed_lines import OUTDATED, Column, Line, best, merit

#: Columns of a table at most, so that it fits the width of a page.
MOST = 6
#: Frameworks whose columns may share a table, in the order of the page.
FAMILIES = (
    ("PyTorch {}",),
    ("TensorFlow {}", "TensorFlow {}, tf.compat.v1", "TensorFlow Lite {}"),
    ("JAX {}", "JAX {} with Grain"),
    ("Keras {} on TensorFlow", "Keras {} on JAX", "Keras {} on PyTorch", "Keras {}"),
    ("Flax {}", "Haiku {}", "Lightning {}", "PyTorch/XLA {}"),
    ("NumPy {}", "Theano {}"),
)
OTHERS, GPU = ("other frameworks",), ("on a GPU",)

Family = tuple[str, ...]


class Part(NamedTuple):
    """Columns that stand in one table, with the best line of each workload in each of them."""

    title: str
    columns: tuple[Column, ...]
    #: {workload: {column: its line}}; without workloads that no column has.
    rows: Mapping[str, Mapping[Column, Line]]
    #: {workload: the size that most columns have}
    sizes: Mapping[str, str]
    #: Precision, threads and processor of most times.
    others: tuple[str, ...]

    @property
    def lines(self) -> list[Line]:
        return [line for row in self.rows.values() for line in row.values()]

    @property
    def timed(self) -> int:
        return sum(line.step is not None for line in self.lines)


def parts_of(lines: Sequence[Line]) -> Iterator[Part]:
    """Divide the columns that have a time into tables, and choose the line of each workload in each column."""
    families: dict[Family, list[Line]] = {family: [] for family in (*FAMILIES, OTHERS, GPU)}
    for line in lines:
        if line.status != OUTDATED:
            families[family_of(line)].append(line)
    counts = sizes_of(line for line in lines if line.device == "cpu")
    sizes = {name: sizes.most_common(1)[0][0] for name, sizes in counts.items()}
    for family, its_lines in families.items():
        measured = {line.column for line in its_lines if line.step is not None}
        for title, columns in divide(sorted(measured, key=lambda column: column.place)):
            title = f"{title} on a GPU" if family == GPU else title
            yield part_of(title, columns, [line for line in its_lines if line.column in columns], sizes)


def family_of(line: Line) -> Family:
    if line.device == "gpu":
        return GPU
    return next((family for family in FAMILIES if line.column.product in family), OTHERS)


def divide(columns: Sequence[Column]) -> Iterator[tuple[str, tuple[Column, ...]]]:
    """Divide columns into tables of at most ``MOST``, each with its title; a release stays together if it can."""
    releases: dict[str, list[Column]] = defaultdict(list)
    for column in columns:
        releases[column.release].append(column)
    together: list[str] = []
    for release, its_columns in [*releases.items(), ("", [])]:
        count = sum(len(releases[each]) for each in together)
        if together and (not release or count + len(its_columns) > MOST):
            yield enumerate_names(together), tuple(column for each in together for column in releases[each])
            together = []
        if len(its_columns) <= MOST:
            together += [release] if release else []
            continue
        number = -(-len(its_columns) // MOST)
        size = -(-len(its_columns) // number)
        for i in range(number):
            yield f"{release}, {i + 1} of {number}", tuple(its_columns[i * size : (i + 1) * size])


def part_of(title: str, columns: tuple[Column, ...], lines: Sequence[Line], sizes_elsewhere: Mapping[str, str]) -> Part:
    """Choose the line of each workload in each column: under the usual conditions, if there is one.

    The size of a row is that of other tables, so that they can be compared, unless few of these columns have it.
    """
    timed = [line for line in lines if line.step is not None]
    others = tuple(usual((line.conditions[i], line) for line in timed) for i in (1, 2, 3))
    sizes = dict(sizes_elsewhere)
    for name, counts in sizes_of(timed).items():
        [(size, count)] = counts.most_common(1)
        if 2 * counts[sizes_elsewhere.get(name, "")] < count:
            sizes[name] = size

    def preferred(line: Line) -> tuple[Any, ...]:
        expected = sizes.get(line.workload, ""), *others
        # A status, unlike a time, is not one of a machine: the newest counts.
        timed = line.step is not None
        alike = tuple(timed and one == other for one, other in zip(line.conditions, expected, strict=True))
        return *merit(line)[:2], alike, *merit(line)[2:]

    rows: dict[str, dict[Column, Line]] = {name: {} for name in BUILT_IN.workloads}
    for (name, column), line in best(lines, lambda line: (line.workload, line.column), preferred).items():
        rows[name][column] = line
    return Part(title, columns, {name: row for name, row in rows.items() if row}, sizes, others)


def sizes_of(lines: Iterable[Line]) -> dict[str, Counter[str]]:
    """Return {workload: {size: how many columns have a time for it}}."""
    cells = {(line.workload, line.size, line.column): None for line in lines if line.step is not None}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for workload, size, _ in cells:
        found[workload][size] += 1
    return found


def usual(found: Iterable[tuple[str, Line]]) -> str:
    """Return the value that most workloads have in most columns; of equally many, the first. Empty without any."""
    cells = {(value, line.workload, line.column): None for value, line in found}
    return next((value for value, _ in Counter(value for value, *_ in cells).most_common(1)), "")
