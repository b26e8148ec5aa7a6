"""Writes what trainings to a result mean: whether accuracies differ, and what rounding alone does."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.training import EQUIVALENT_WITHIN, Agreement, TrainedCell, TrainedRow
from ...analysis.versions import version_of, without_build
from ...statistics.bootstrap import Estimate
from ...statistics.verdict import ALPHA, minimum_pairs
from ...storage.training_records import TrainingFacts
from .language import _, ngettext
from .numbers import decimals, fixed, general, percent
from .row_names import row_name
from .terms import enumerate_names
from .text import EMPTY, printable


def trained_names(row: TrainedRow) -> list[str]:
    """Name the cells of a row by framework, version and mode; those that share a name, by their environments, too.

    The baseline with changed weights says so.
    """
    names = [_name(one) for one in row.cells]
    return [
        _("baseline, last bit changed")
        if one.nudged
        else name + (f" ({one.cell.environment})" if names.count(name) > 1 else "")
        for one, name in zip(row.cells, names, strict=True)
    ]


def _name(one: TrainedCell) -> str:
    if one.nudged:
        return ""
    said = (*one.runs, *([one.failed] if one.failed else ()))
    version = without_build(version_of(one.names, (run.versions for run in said)))
    return " ".join(filter(None, (one.names.product, version, one.cell.mode)))


def spread(estimate: Estimate | None, size: float = 1.0) -> str:
    """Write a mean with half of its interval: ``0.957 ± 0.006``."""
    if estimate is None:
        return EMPTY
    value = estimate.value / size
    if estimate.low is None or estimate.high is None:
        return fixed(value, decimals(value))
    half = (estimate.high - estimate.low) / 2.0 / size
    # What is next to nothing beside its interval, such as the rounding of a mean of zero, has no digits of its own.
    digits = decimals(max(abs(value), half), half)
    # 0.0 is added because a negative mean may round to -0.0.
    return f"{fixed(round(value, digits) + 0.0, digits)} ± {fixed(half, digits)}"


def points(share: float) -> str:
    """Write a difference of accuracy in percentage points."""
    return fixed(100.0 * share, 2)


def distance_in_words(apart: float | None) -> str:
    """Write how far parameters are apart, to one digit: the estimate knows no more."""
    return EMPTY if apart is None else general(float(f"{apart:.1g}")).replace("e-0", "e-")


def agreement_remark(row: TrainedRow) -> str:
    """Say in a sentence or two whether the accuracies of a row differ."""
    if row.agreement is None:
        return _("Accuracies cannot be compared: no two columns were trained with the same seed.")
    largest = points(max(one.largest_difference or 0.0 for one in row.compared if not one.nudged))
    seeds = ngettext("{count} seed", "{count} seeds", row.pairs)
    if row.agreement is Agreement.EQUAL:
        return _("With each of {seeds}, all columns classify the same number of images correctly.", seeds=seeds)
    if row.agreement is Agreement.FEW:
        return _(
            "With the same seed, accuracies differ from the baseline's by at most {largest} points ({seeds}; a verdict "
            "needs {needed}).",
            largest=largest,
            seeds=seeds,
            needed=minimum_pairs(),
        )
    if row.agreement is Agreement.DIFFERENT:
        named = zip(row.cells, trained_names(row), strict=True)
        names = [name for one, name in named if one.cell.column in row.different and not one.nudged]
        return _(
            "The accuracy differs from the baseline's: {names} (exact signed-rank test over {seeds}, adjusted, at "
            "{alpha}). Weights and batches were the same: the cause is the set-up or the rounding.",
            names=enumerate_names(names),
            seeds=seeds,
            alpha=percent(ALPHA),
        )
    if row.agreement is Agreement.EQUIVALENT:
        return _(
            "Accuracies are equivalent: with {seeds}, the {level} interval of every difference lies within {limit}.",
            seeds=seeds,
            level=percent(1.0 - ALPHA),
            limit=ngettext("{count} percentage point", "{count} percentage points", round(100.0 * EQUIVALENT_WITHIN)),
        )
    return _(
        "No difference of accuracy was found with {seeds}; the largest in a seed is {largest} points. That does not "
        "show that there is none.",
        seeds=seeds,
        largest=largest,
    )


def rounding_remark(row: TrainedRow) -> str:
    """Say what changing the weights of the baseline in their last bit does, which is what rounding alone may do."""
    one = row.nudged
    if one is None or one.largest_difference is None:
        return ""
    return _(
        "Rounding alone: with initial weights that were changed in the last bit, the baseline's accuracy moved by up "
        "to {largest} points, and its parameters were {apart} apart after the first epoch (median; at most {most}).",
        largest=points(one.largest_difference),
        apart=distance_in_words(one.apart),
        most=distance_in_words(one.largest_apart),
    )


def data_remark(row: TrainedRow) -> str:
    """Say what the data are, and what an epoch is."""
    run = next((run for one in row.cells for run in one.runs), None)
    if run is None:
        return ""
    return _(
        "Data: {data}; an epoch has {steps} batches of {batch}, and what does not fill a batch is left out, in each "
        "epoch others.",
        data=printable(run.data),
        steps=run.steps,
        batch=run.batch,
    )


def conditions(facts: TrainingFacts, machine: str) -> str:
    """Write the caption's last sentences: seeds, epochs, threads and machine."""
    return " ".join(
        filter(
            None,
            (
                ngettext("{count} seed of initial weights and order.", "{count} seeds of initial weights and orders.",
                         len(facts.seeds)),
                _("Validation: {share} of the images, the same for all.", share=percent(facts.share)),
                machine and f"{machine}.",
            ),
        )
    )  # fmt: skip


def remarks_of(rows: Sequence[TrainedRow]) -> list[str]:
    """Write what stands below the results, row by row."""
    found: list[str] = []
    for row in rows:
        said = [agreement_remark(row), rounding_remark(row), data_remark(row)]
        text = " ".join(filter(None, said))
        found.append(f"{row_name(row.baseline)}: {text}" if len(rows) > 1 else text)
    return found
