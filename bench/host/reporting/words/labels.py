"""Names columns for people, by framework, version and mode: ``PyTorch 2.15 compile``; short names stay for commands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench.cell import Cell

from ...analysis.fairness import PRELOADED
from ...analysis.versions import version_of, without_build

if TYPE_CHECKING:
    # Naming a framework before anything is measured need not wait for scipy.
    from ...analysis.notes import Note, Value
    from ...analysis.results import Result


#: Modes whose names are longer than what tells them apart below the name of the framework.
SHORT = {"torchscript": "script"}


@dataclass(frozen=True)
class Label:
    """The name of one column, part by part."""

    product: str
    #: ``2.15``, or ``2.15.1`` beside another 2.15; empty where the records do not say.
    version: str
    mode: str
    #: The framework's name for people, where ``product`` is that of an environment, to tell two of them apart.
    framework: str = ""

    @property
    def text(self) -> str:
        return " ".join(filter(None, (self.product, self.version, self.mode)))

    @property
    def release(self) -> str:
        return " ".join(filter(None, (self.product, self.version)))

    @property
    def short_mode(self) -> str:
        return SHORT.get(self.mode, self.mode)

    @property
    def short(self) -> str:
        """Its name where there is little room, as in a sentence below a table."""
        return " ".join(filter(None, (self.product, self.version, self.short_mode)))

    @property
    def heading(self) -> str:
        """One part a line, so that columns are narrow."""
        return "\n".join(filter(None, (self.product, self.version, self.short_mode)))


Labels = Mapping[str, Label]


def labels_of(results: Sequence[Result]) -> dict[str, Label]:
    """Name every column; columns that would share a name are told apart by the whole version, or their environments.

    An environment keeps the framework's name beside those that are named after it, such as torch2 beside torch2-box.
    One with preloaded libraries, which is not the framework as it is installed, never has that name.
    """
    columns = {result.cell.column: result.cell for result in results}
    products = {result.cell.framework: result.names.product for result in results}
    versions = dict.fromkeys((cell.environment for cell in columns.values()), "")
    unknown = set(versions)
    for result in results:
        if not unknown:
            break
        # A cell that ended before its import does not say; another one of its environment does.
        if result.cell.environment in unknown and (version := _version(result)):
            versions[result.cell.environment] = version
            unknown.remove(result.cell.environment)
    changed = {
        result.cell.environment for result in results if any(PRELOADED in one.settings for one in result.records)
    }
    every = {column: _label(cell, products[cell.framework], versions) for column, cell in columns.items()}
    whole = {column: label for column, label in every.items() if columns[column].environment not in changed}
    short = {column: replace(label, version=short_version(label.version)) for column, label in whole.items()}
    found = {column: whole[column] if shared else short[column] for column, shared in _shared(short).items()}
    own = {
        column: replace(label, product=columns[column].environment, version=short_version(label.version))
        for column, label in every.items()
    }
    told = {column: own[column] if shared else found[column] for column, shared in _shared(found).items()}
    for column, label in whole.items():
        environment = column.partition(":")[0]
        others = _with_name_of(column, whole) - {column}
        if others and all(other.startswith(f"{environment}-") for other in others):
            told[column] = short[column] if others == _with_name_of(column, short) - {column} else label
            # A column that these have alone is not one of the environment with the framework's name.
            named_after = {other.partition(":")[0] for other in others}
            told.update({other: own[other] for other in whole if other.partition(":")[0] in named_after})
    return {column: told.get(column, own[column]) for column in columns}


def _with_name_of(column: str, labels: Labels) -> set[str]:
    """Return the columns that have the name of one, itself among them."""
    return {other for other, label in labels.items() if label.text == labels[column].text}


def names_of_versions(columns: Mapping[str, str], labels: Labels) -> dict[str, str]:
    """Name environments by their frameworks and versions, given a column of each; by themselves where two share one."""
    names = {environment: labels[column].release for environment, column in columns.items()}
    counts = Counter(names.values())
    return {environment: name if counts[name] == 1 else environment for environment, name in names.items()}


def _shared(labels: Mapping[str, Label]) -> dict[str, bool]:
    """Tell of each column whether another one has the same name."""
    names = Counter(label.text for label in labels.values())
    return {column: names[label.text] > 1 for column, label in labels.items()}


def with_label(note: Note, name: str, labels: Labels) -> Note:
    """Replace the column that a note has as the value ``name`` by what people call it."""
    return replace(
        note, values=tuple((key, _named(value, labels) if key == name else value) for key, value in note.values)
    )


def _named(value: Value, labels: Labels) -> Value:
    return labels[value].text if isinstance(value, str) and value in labels else value


def in_order(columns: Sequence[str], labels: Mapping[str, Label]) -> list[str]:
    """Order columns by framework, then by version; frameworks, and the modes of one version, stay in their order."""
    products = list(dict.fromkeys(labels[column].product for column in columns))
    return sorted(columns, key=lambda column: (products.index(labels[column].product), version_order(labels[column])))


def version_order(label: Label) -> tuple[int, ...]:
    """Return what versions are ordered by: 2.9 comes before 2.10."""
    return tuple(map(int, re.findall(r"\d{1,9}", label.version)))


def _label(cell: Cell, product: str, versions: Mapping[str, str]) -> Label:
    return Label(product, versions[cell.environment], cell.mode, product)


def _version(result: Result) -> str:
    return without_build(version_of(result.names, (record.versions for record in result.records)))


def short_version(version: str) -> str:
    """Return the digits of a version that tell releases apart: 2.15 of 2.15.1, but all of 0.0.17."""
    found = re.match(r"0\.0\.\d+|\d+(?:\.\d+)?", version)
    return found[0] if found else version
