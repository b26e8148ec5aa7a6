"""Makes the table of the throughput that each column reaches within bounds on the latency of a step."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.latency import largest_within
from ...analysis.results import Result, columns_of
from ...analysis.run_analysis import Analysis
from ...storage.manifest import Manifest
from ..words.caption import compared_of, describe_conditions
from ..words.labels import in_order, labels_of
from ..words.language import _, ngettext
from ..words.numbers import COUNTS, choose_unit, fixed, format_value
from ..words.row_names import row_name, usual_facets
from ..words.terms import items_word
from ..words.text import EMPTY
from .table import Column, Entry, Group, Table, without_empty_columns

#: Seconds. A service that people wait for is fast from 0.1 s down (Nielsen, "Response Times", 1993).
BOUNDS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


def table(analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table; None where no steps were timed one by one, or none that can be used."""
    timed = [result for result in analysis.results if result.latency and result.throughput]
    served = [result for result in timed if result.quality is not None and result.quality.usable]
    if not served:
        return None
    disturbed = len(timed) - len(served)
    # A bound that every cell keeps says no more than the next smaller one.
    slowest = max(result.latency.p99_s for result in served if result.latency)
    wanted = sum(bound < slowest for bound in BOUNDS_S) + 1
    bounds = BOUNDS_S[:wanted]
    groups: dict[tuple[object, ...], list[Result]] = {}
    for result in served:
        cell = result.cell
        groups.setdefault((cell.workload, cell.precision, cell.device, cell.threads), []).append(result)
    titles = (_("p99 ≤ {bound} ms", bound=fixed(1000 * bound, 0)) for bound in bounds)
    return without_empty_columns(
        Table(
            f"{manifest.study.name}-latency",
            _("Throughput at a latency bound"),
            _(
                "{title}: the largest throughput of a size whose 99% quantile keeps the bound, and that size.",
                title=compared_of(analysis.results, manifest),
            )
            + f" {describe_conditions(manifest, analysis.results)}",
            (Column(_("framework and mode"), "left"), *map(Column, titles)),
            tuple(_group(group, bounds, analysis.results) for group in groups.values()),
            (
                _("Only sizes that were measured count, one step at a time; requests do not wait for each other."),
                *([_left_out(disturbed)] if disturbed else []),
            ),
        )
    )


def _left_out(disturbed: int) -> str:
    return ngettext(
        "{count} cell that other programs disturbed is left out.",
        "{count} cells that other programs disturbed are left out.",
        disturbed,
    )


def _group(served: Sequence[Result], bounds: Sequence[float], results: Sequence[Result]) -> Group:
    """Make the rows of what differs in the size alone."""
    unit = choose_unit([result.throughput.value for result in served if result.throughput], COUNTS)
    per_second = f"{unit.name} {items_word(str(served[0].work.get('item', 'item')))}/s".strip()
    usual, labels, cell = usual_facets(results), labels_of(results), served[0].cell
    rows = []
    for column in in_order(columns_of(served), labels):
        own = [result for result in served if result.cell.column == column]
        best = [largest_within(own, bound) for bound in bounds]
        rows.append((Entry(labels[column].text), *(Entry(_reached(found, unit.size)) for found in best)))
    heading = row_name(cell, [usual[0], cell.size, *usual[2:]])
    return Group(Entry(heading), ("", *[per_second] * len(bounds)), tuple(rows))


def _reached(found: Result | None, unit: float) -> str:
    return EMPTY if found is None else f"{format_value(found.throughput, unit)} ({found.cell.size})"
