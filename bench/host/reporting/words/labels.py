"""Names columns for people, by framework, version and mode: ``PyTorch 2.15 compile``; short names stay for commands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.registry import BUILT_IN

from ...analysis.results import Result

#: Digits of a version that tell releases apart.
RELEASE = re.compile(r"\d+(?:\.\d+)?")


#: Modes whose names are longer than what tells them apart below the name of the framework.
SHORT = {"torchscript": "script"}


@dataclass(frozen=True)
class Label:
    """The name of one column, part by part."""

    product: str
    #: ``2.15``; empty where the records do not say.
    version: str
    mode: str

    @property
    def text(self) -> str:
        return " ".join(filter(None, (self.product, self.version, self.mode)))

    @property
    def short_mode(self) -> str:
        return SHORT.get(self.mode, self.mode)

    @property
    def heading(self) -> str:
        """One part a line, so that columns are narrow."""
        return "\n".join(filter(None, (self.product, self.version, self.short_mode)))


def labels_of(results: Sequence[Result]) -> dict[str, Label]:
    """Name every column; columns that would share a name are told apart by the names of their environments."""
    found: dict[str, Label] = {}
    for result in results:
        known = found.get(result.cell.column)
        if known is None or not known.version:
            found[result.cell.column] = _label(result)
    names = [label.text for label in found.values()]
    return {
        column: Label(column.partition(":")[0], label.version, label.mode) if names.count(label.text) > 1 else label
        for column, label in found.items()
    }


def in_order(columns: Sequence[str], labels: Mapping[str, Label]) -> list[str]:
    """Order columns by framework, then by version; frameworks, and the modes of one version, stay in their order."""
    products = list(dict.fromkeys(labels[column].product for column in columns))
    return sorted(columns, key=lambda column: (products.index(labels[column].product), version_order(labels[column])))


def version_order(label: Label) -> tuple[int, ...]:
    """Return what versions are ordered by: 2.9 comes before 2.10."""
    return tuple(map(int, re.findall(r"\d{1,9}", label.version)))


def _label(result: Result) -> Label:
    product, distribution = names_of(result.cell.framework)
    version = next((v for record in result.records if (v := record.versions.get(distribution))), "")
    release = RELEASE.match(version)
    return Label(product, release[0] if release else version, result.cell.mode)


def names_of(framework: str) -> tuple[str, str]:
    """Return a framework's name for people, and the name under which its version is recorded."""
    try:
        facts = BUILT_IN.facts(framework)
    except ValueError:
        # A report is made from the records alone; other people's frameworks need not be here any more.
        return framework, framework
    return facts.product, facts.import_name
