"""Makes the tables of trainings to a result: the results in the columns of published studies, and what lies behind."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.training import TrainedCell, TrainedRow
from ...statistics.bootstrap import LEVEL
from ...storage.training_records import TrainingFacts
from ..words.caption import machine_in_words
from ..words.language import _
from ..words.numbers import TIMES, Unit, choose_unit, percent
from ..words.row_names import row_name
from ..words.terms import status_word
from ..words.text import EMPTY, shorten
from ..words.training import conditions, distance_in_words, points, remarks_of, spread, trained_names
from .table import Column, Entry, Group, Table, remarks, without_empty_columns


def tables(facts: TrainingFacts, rows: Sequence[TrainedRow]) -> tuple[Table, Table]:
    """Return the results, and what lies behind them."""
    return results(facts, rows), behind(facts, rows)


def results(facts: TrainingFacts, rows: Sequence[TrainedRow]) -> Table:
    """Make the table with the columns of Welter et al., whose values are means over the seeds."""
    columns = (
        Column(_("framework"), "left"),
        Column(_("accuracy")),
        Column(_("loss")),
        Column(_stacked(_("mean execution time"))),
        Column(_stacked(_("training epochs")), dispensable=1),
        Column(_stacked(_("training images")), dispensable=2),
        Column(_stacked(_("validation images")), dispensable=3),
    )
    groups = []
    for row in rows:
        unit = _unit([one.train_s.value for one in row.cells if one.train_s])
        shown = [pair for pair in zip(row.cells, trained_names(row), strict=True) if not pair[0].nudged]
        units = ("", "", "", unit.name, "", "", "")
        groups.append(Group(Entry(row_name(row.baseline)), units, tuple(_result(*pair, facts, unit) for pair in shown)))
    caption = _(
        "{study}: training to a result. Accuracy and loss after the last epoch on images that are held out, mean over "
        "the seeds ± half of its {level} interval. {conditions}",
        study=facts.study,
        level=percent(LEVEL),
        conditions=conditions(facts, machine_in_words(facts.machine)),
    )
    return Table(
        f"{facts.study}-training",
        _("Training to a result"),
        caption,
        columns,
        tuple(groups),
        remarks(
            *remarks_of(rows),
            _(
                "Initial weights and batches were the same in every column: their hash was compared. Loss: the mean "
                "cross-entropy, which one NumPy function computes from the logits of each framework."
            ),
            _(
                "Time: the steps of all epochs, without compilation, evaluation and the copy of batches to the device; "
                "within a seed the columns took turns epoch by epoch."
            ),
        ),
    )


def behind(facts: TrainingFacts, rows: Sequence[TrainedRow]) -> Table:
    """Make the table of differences to the baseline and of what the first one leaves out."""
    target = "" if facts.target is None else percent(facts.target, 1 if round(1000 * facts.target) % 10 else 0)
    columns = (
        Column(_("framework"), "left"),
        Column(_stacked(_("difference"))),
        Column(_("largest")),
        Column(_stacked(_("parameters apart"))),
        Column(_stacked(_("largest distance")), dispensable=3),
        Column(_stacked(_("squared error")), dispensable=2),
        Column(_("start"), dispensable=1),
        Column(_stacked(_("time to {accuracy}", accuracy=target))),
    )
    groups = []
    for row in rows:
        pairs = zip(row.cells, trained_names(row), strict=True)
        start = _unit([one.start_s.value for one in row.cells if one.start_s])
        unit = _unit([one.target_s.value for one in row.cells if one.target_s])
        units = ("", _("points"), _("points"), "", "", "", start.name, unit.name if facts.target is not None else "")
        groups.append(
            Group(Entry(row_name(row.baseline)), units, tuple(_behind(*pair, start, unit, facts) for pair in pairs))
        )
    caption = _(
        "Behind the results: mean and largest difference of accuracy with the same seed; how far parameters are from "
        "the baseline's after the first epoch, over what that epoch changed (median and largest); mean squared error "
        "of the softmax; build and compilation before the first step."
    )
    made = Table(f"{facts.study}-training-behind", _("Behind the results"), caption, columns, tuple(groups))
    return without_empty_columns(made)


def _stacked(title: str) -> str:
    """Put each word on a line, so that the column is narrow."""
    return "\n".join(title.split())


def _unit(seconds: Sequence[float]) -> Unit:
    return choose_unit(seconds, TIMES)


def _result(one: TrainedCell, name: str, facts: TrainingFacts, unit: Unit) -> tuple[Entry, ...]:
    named = Entry(name, _notes(one))
    if not one.runs:
        status = status_word(one.failed.status) if one.failed else EMPTY
        return (named, Entry(status, alarm=True), *(Entry(EMPTY) for _column in range(5)))
    first = one.runs[0]
    return (
        named,
        Entry(spread(one.accuracy)),
        Entry(spread(one.cross_entropy)),
        Entry(spread(one.train_s, unit.size)),
        Entry(str(facts.epochs)),
        Entry(str(first.training)),
        Entry(str(first.validation)),
    )


def _notes(one: TrainedCell) -> tuple[str, ...]:
    if one.failed is None:
        return ()
    reason = shorten(one.failed.reason or "")
    if not one.runs:
        return (f"{status_word(one.failed.status)}: {reason}",)
    return (_("seed {seed} is left out: {status}: {reason}", seed=one.failed.seed,
              status=status_word(one.failed.status), reason=reason),)  # fmt: skip


def _behind(one: TrainedCell, name: str, start: Unit, unit: Unit, facts: TrainingFacts) -> tuple[Entry, ...]:
    compared = one.difference is not None and one.largest_difference is not None
    return (
        Entry(name),
        Entry(spread(one.difference, 0.01) if compared else EMPTY),
        Entry(points(one.largest_difference or 0.0) if compared else EMPTY),
        Entry(distance_in_words(one.apart)),
        Entry(distance_in_words(one.largest_apart)),
        Entry(spread(one.squared_error)),
        Entry(spread(one.start_s, start.size)),
        Entry(_target(one, unit) if facts.target is not None else EMPTY),
    )


def _target(one: TrainedCell, unit: Unit) -> str:
    """Write the time to the target, and how many seeds reached it where not all did."""
    if one.target_s is None:
        return _("not reached") if one.runs else EMPTY
    text = spread(one.target_s, unit.size)
    if one.target_s.n == len(one.runs):
        return text
    return _("{time} ({reached} of {seeds} seeds)", time=text, reached=one.target_s.n, seeds=len(one.runs))
