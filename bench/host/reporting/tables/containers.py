"""Makes the table of what containers cost: each cell in a container beside the same cell in the venv of its lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...analysis.comparisons import Reached, decide_together
from ...analysis.fairness import refusal
from ...analysis.results import Comparison, Result, row_key
from ...analysis.run_analysis import Analysis
from ...statistics.verdict import ALPHA, THRESHOLD
from ...storage.manifest import Manifest
from ..words.caption import describe_conditions, strict_remark, title_of
from ..words.language import _, ngettext
from ..words.numbers import format_interval, format_share, format_value, percent
from ..words.remarks import noise_remark
from ..words.terms import verdict_word
from ..words.verdicts import mark
from .rows import row_name, varying
from .table import EMPTY, Column, Entry, Group, Table, remarks


def container_columns() -> tuple[Column, ...]:
    return (
        Column(_("workload"), "left"),
        Column(_("container"), "left"),
        Column("venv", "left"),
        Column(_("ratio")),
        Column(_("interval"), "left"),
        Column(_("verdict"), "left"),
    )


@dataclass(frozen=True)
class Cost:
    """A cell in a container and in the venv of the same lock, and the ratio of their times."""

    container: Result
    venv: Result
    #: None where one of the two has no time, or no two processes took turns.
    comparison: Comparison | None


def twins(environments: Mapping[str, Any]) -> dict[str, str]:
    """Return {container: venv} for every container that was built from the very lock of a venv of the run."""
    locks = {
        name: manifest.get("lock_hash")
        for name, manifest in environments.items()
        if manifest.get("provider") == "venv" and manifest.get("lock_hash")
    }
    return {
        name: manifest["lock"]
        for name, manifest in environments.items()
        if manifest.get("provider") == "container" and locks.get(manifest.get("lock")) == manifest.get("lock_hash")
        if manifest.get("lock") in locks
    }


def costs(analysis: Analysis, manifest: Manifest, environments: Mapping[str, Any]) -> list[Cost]:
    """Compare every container with its venv, row by row and mode by mode; p values are adjusted together."""
    pairs = twins(environments)
    there = {(row_key(result.cell), result.cell.column): result for result in analysis.results}
    found = []
    for result in analysis.results:
        venv = pairs.get(result.cell.environment)
        other = there.get((row_key(result.cell), f"{venv}:{result.cell.mode}"))
        if venv is not None and other is not None:
            # A row ends for all of its cells at once.
            refused = manifest.strict and bool(refusal(result, other))
            ratio = None if refused else Reached.of((result, other), manifest).compare(result, other)
            found.append((result, other, ratio))
    floor = analysis.noise.floor.value if analysis.noise.floor else 0.0
    comparisons = decide_together([ratio for _mine, _venv, ratio in found], floor)
    return [Cost(mine, venv, own) for (mine, venv, _ratio), own in zip(found, comparisons, strict=True)]


def table(analysis: Analysis, manifest: Manifest, environments: Mapping[str, Any]) -> Table | None:
    """Make the table of what containers cost; None where no container has its venv beside it."""
    found = costs(analysis, manifest, environments)
    if not found:
        return None
    shown = varying(analysis.results)
    rows = tuple(_row(cost, shown) for cost in found)
    caption = _(
        "{title}, cost of the container: time in a container over time in the venv of the same lock, in the same mode "
        "(above 1 the container is slower).",
        title=title_of(manifest),
    )
    compared = sum(cost.comparison is not None for cost in found)
    meaning = ngettext(
        "Verdicts: equivalent where the {interval} interval lies within ±{threshold}; exact signed-rank test over "
        "pairs of processes at {level}, Benjamini-Hochberg over {count} comparison.",
        "Verdicts: equivalent where the {interval} interval lies within ±{threshold}; exact signed-rank test over "
        "pairs of processes at {level}, Benjamini-Hochberg over {count} comparisons.",
        compared,
        interval=percent(1 - ALPHA),
        threshold=format_share(THRESHOLD),
        level=percent(ALPHA),
    )
    columns = container_columns()
    group = Group(Entry(""), ("",) * len(columns), rows)
    return Table(
        f"{manifest.study.name}-containers",
        _("Containers"),
        f"{caption} {describe_conditions(manifest, analysis.results)}",
        columns,
        (group,),
        remarks(meaning, noise_remark(analysis, manifest), strict_remark(manifest)),
    )


def _row(cost: Cost, shown: Sequence[bool]) -> tuple[Entry, ...]:
    found = cost.comparison
    estimate = found.ratio.estimate if found else None
    verdict = f"{mark(found)} {verdict_word(found.verdict)}" if found and found.verdict else EMPTY
    return (
        Entry(row_name(cost.container.cell, shown)),
        Entry(cost.container.cell.column),
        Entry(cost.venv.cell.column),
        Entry(format_value(estimate)),
        Entry(format_interval(estimate)),
        Entry(verdict),
    )
