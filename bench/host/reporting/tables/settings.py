"""Makes the table of the settings that differ between the columns, and its form for a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...analysis.fairness import DifferingSetting, differing_settings
from ...analysis.results import columns_of
from ...analysis.run_analysis import Analysis
from ...storage.manifest import Manifest
from ..words.labels import Label, in_order, labels_of
from ..words.language import _
from ..words.text import EMPTY, shorten
from .rows import rows_of
from .table import Column, Entry, Group, Table

#: Characters of a value; the records keep all of it.
VALUE_LENGTH = 60


def compare(analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table with a row per setting that differs; None where none does.

    The modes of an environment share a column where they agree in everything that differs elsewhere.
    """
    found = differing_settings(rows_of(analysis.results).values())
    if not found:
        return None
    measured = [result for result in analysis.results if result.records]
    labels = labels_of(measured)
    groups = _grouped(in_order(columns_of(measured), labels), labels, found)
    columns = (Column(_("setting"), "left"), *(_heading(*group, labels) for group in groups))
    rows = tuple((Entry(one.name), *(Entry(_value(one, column)) for _name, column in groups)) for one in found)
    return Table(
        f"{manifest.study.name}-settings",
        _("Settings that differ"),
        _("Settings that were in force, as the worker reads them back, where they differ. A dash: not reported."),
        columns,
        (Group(Entry(""), ("",) * len(columns), rows),),
    )


def _heading(name: str, column: str, labels: Mapping[str, Label]) -> Column:
    return Column(name, "left", wraps=True, group=labels[column].release)


def _grouped(
    columns: Sequence[str], labels: Mapping[str, Label], found: Sequence[DifferingSetting]
) -> list[tuple[str, str]]:
    """Return the name of each column of the table, and one column of results that it stands for."""
    of_environment: dict[str, list[str]] = {}
    for column in columns:
        of_environment.setdefault(column.partition(":")[0], []).append(column)
    groups = []
    for own in of_environment.values():
        alike = all(one.values.get(column) == one.values.get(own[0]) for one in found for column in own)
        whole = replace(labels[own[0]], mode="").heading
        groups += [(whole, own[0])] if alike else [(labels[column].heading, column) for column in own]
    return groups


def by_value(table: Table) -> Table:
    """Turn the table into one with a row per value, which names the columns that have it.

    Screens have no room for the values of many columns side by side: a terminal broke their words.
    """
    rows = []
    for group in table.groups:
        for setting, *entries in group.rows:
            values = list(dict.fromkeys(entry.text for entry in entries))
            named = [_names(table.columns[1:], [entry.text == value for entry in entries]) for value in values]
            names = (setting, *(Entry("") for _value in values[1:]))
            rows += [(name, Entry(value), Entry(text)) for name, value, text in zip(names, values, named, strict=True)]
    columns = (table.columns[0], Column(_("value"), "left", wraps=True), Column(_("columns"), "left", wraps=True))
    return replace(table, columns=columns, groups=(Group(Entry(""), ("",) * len(columns), tuple(rows)),))


def _names(columns: Sequence[Column], chosen: Sequence[bool]) -> str:
    """Name the chosen columns by release: ``PyTorch 1.13; PyTorch 2.15 eager, compile``; alone, where all are."""
    releases: dict[str, list[tuple[str, bool]]] = {}
    for column, has in zip(columns, chosen, strict=True):
        name = " ".join(column.title.split())
        releases.setdefault(column.group, []).append((name.removeprefix(f"{column.group} "), has))
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
