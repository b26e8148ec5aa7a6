"""Makes the table of the settings that differ between the columns, with a row per value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...analysis.fairness import DifferingSetting, differing_settings
from ...analysis.results import columns_of
from ...analysis.run_analysis import Analysis
from ...storage.manifest import Manifest
from ..words.labels import Label, in_order, labels_of
from ..words.language import _
from ..words.text import EMPTY, shorten
from .rows import rows_of
from .table import Column, Entry, Table, ungrouped

#: Characters of a value; the records keep all of it.
VALUE_LENGTH = 60


@dataclass(frozen=True)
class Holder:
    """What has one value of every setting: a column of results, or an environment whose modes agree."""

    release: str
    #: With the release before it.
    name: str
    #: A column of results that it stands for.
    column: str


def compare(analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table with a row per value of every setting that differs; None where none does.

    A column of the table for every column of results would be wider than a page.
    """
    found = differing_settings(rows_of(analysis.results).values())
    if not found:
        return None
    measured = [result for result in analysis.results if result.records]
    labels = labels_of(measured)
    holders = _holders(in_order(columns_of(measured), labels), labels, found)
    columns = (
        Column(_("setting"), "left"),
        Column(_("value"), "left", wraps=True),
        Column(_("columns"), "left", wraps=True),
    )
    rows = tuple(row for one in found for row in _rows(one, holders))
    return Table(
        f"{manifest.study.name}-settings",
        _("Settings that differ"),
        _("Settings that were in force, as the worker reads them back, where they differ. A dash: not reported."),
        columns,
        ungrouped(rows, len(columns)),
    )


def _holders(columns: Sequence[str], labels: Mapping[str, Label], found: Sequence[DifferingSetting]) -> list[Holder]:
    """Return what has values: an environment stands once where its modes agree in everything that differs."""
    of_environment: dict[str, list[str]] = {}
    for column in columns:
        of_environment.setdefault(column.partition(":")[0], []).append(column)
    holders = []
    for own in of_environment.values():
        alike = all(one.values.get(column) == one.values.get(own[0]) for one in found for column in own)
        if alike:
            holders.append(_holder(replace(labels[own[0]], mode=""), own[0]))
        else:
            holders += [_holder(labels[column], column) for column in own]
    return holders


def _holder(label: Label, column: str) -> Holder:
    return Holder(label.release, " ".join(label.heading.split()), column)


def _rows(setting: DifferingSetting, holders: Sequence[Holder]) -> list[tuple[Entry, ...]]:
    """Make a row for every value, which names what has it; the first one names the setting."""
    values = [_value(setting, holder.column) for holder in holders]
    different = list(dict.fromkeys(values))
    names = (setting.name, *("" for _value in different[1:]))
    return [
        (Entry(name), Entry(value), Entry(_names(holders, [one == value for one in values])))
        for name, value in zip(names, different, strict=True)
    ]


def _names(holders: Sequence[Holder], chosen: Sequence[bool]) -> str:
    """Name the chosen ones by release: ``PyTorch 1.13; PyTorch 2.15 eager, compile``; alone, where all are."""
    releases: dict[str, list[tuple[str, bool]]] = {}
    for holder, has in zip(holders, chosen, strict=True):
        releases.setdefault(holder.release, []).append((holder.name.removeprefix(f"{holder.release} "), has))
    texts = []
    for release, modes in releases.items():
        own = [name for name, has in modes if has]
        if own:
            texts.append(release if len(own) == len(modes) else f"{release} {', '.join(own)}")
    return "; ".join(texts)


def _value(setting: DifferingSetting, column: str) -> str:
    values = setting.values.get(column)
    if values is None:
        return EMPTY
    return "; ".join(shorten(value, VALUE_LENGTH) or _("empty") for value in values)
