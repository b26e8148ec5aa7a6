"""Makes the table of what containers cost: each cell in a container beside the same cell in the venv of its lock."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.container_costs import ContainerCost, container_costs
from ...analysis.quality import Quality
from ...analysis.run_analysis import Analysis
from ...analysis.run_notes import strict
from ...statistics.verdict import ALPHA, THRESHOLD
from ...storage.manifest import Manifest
from ..words.answer import WITHHELD
from ..words.caption import compared_of, describe_conditions, remark_on
from ..words.labels import Labels, labels_of
from ..words.language import _, ngettext
from ..words.numbers import format_interval, format_share, format_value, percent
from ..words.quality import meaning
from ..words.remarks import noise_remark
from ..words.row_names import row_name, usual_facets
from ..words.terms import verdict_word
from ..words.text import EMPTY
from ..words.verdicts import mark
from .table import Column, Entry, Table, remarks, ungrouped
from .times import has_disturbed


def container_columns() -> tuple[Column, ...]:
    return (
        Column(_("workload"), "left"),
        Column(_("container"), "left"),
        Column("venv", "left"),
        Column(_("ratio")),
        Column(_("interval"), "left"),
        Column(_("verdict"), "left"),
    )


def table(analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table of what containers cost; None where no container has its venv beside it."""
    found = container_costs(analysis, manifest)
    if not found:
        return None
    usual, labels = usual_facets(analysis.results), labels_of(analysis.results)
    rows = tuple(_row(cost, usual, labels) for cost in found)
    caption = _(
        "{title}, cost of the container: time in a container over time in the venv of the same lock, in the same mode "
        "(above 1 the container is slower).",
        title=compared_of(analysis.results, manifest),
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
    return Table(
        f"{manifest.study.name}-containers",
        _("Containers"),
        f"{caption} {describe_conditions(manifest, analysis.results)}",
        columns,
        ungrouped(rows, len(columns)),
        remarks(meaning, noise_remark(analysis, manifest), remark_on(strict(manifest))),
    )


def _row(cost: ContainerCost, usual: Sequence[str | None], labels: Labels) -> tuple[Entry, ...]:
    found, withheld = cost.comparison, has_disturbed(cost.container, cost.venv)
    estimate = found.ratio.estimate if found else None
    verdict = f"{mark(found)} {verdict_word(found.verdict)}" if found and found.verdict else EMPTY
    return (
        Entry(row_name(cost.container.cell, usual)),
        Entry(labels[cost.container.cell.column].text),
        Entry(labels[cost.venv.cell.column].text),
        Entry(WITHHELD, (meaning(Quality.DISTURBED),)) if withheld else Entry(format_value(estimate)),
        Entry(format_interval(estimate)),
        Entry(verdict),
    )
