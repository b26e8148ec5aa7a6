"""Writes the report of trainings to a result: its tables in every form, and every epoch as a row of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from ..analysis.training import TrainedCell, TrainedRow, analyse
from ..refusal import naming
from ..setup.staging import write_whole
from ..statistics.bootstrap import Estimate
from ..storage.training_records import Trained, TrainingFacts
from .renderers import csv, latex, markdown, terminal
from .tables import training
from .words.language import _
from .words.training import trained_names

MARKDOWN = "training.md"


class _EpochRow(NamedTuple):
    trained: Trained
    number: int


def write(facts: TrainingFacts, trained: Sequence[Trained], folder: Path) -> list[Path]:
    """Write the tables as Markdown and LaTeX, the results and every epoch as CSV; return the paths."""
    rows = analyse(facts, trained)
    made = training.tables(facts, rows)
    files = {
        MARKDOWN: markdown.document(_("Training to a result"), made),
        "training.tex": latex.document(made),
        "training.csv": results_csv(facts, rows),
        "epochs.csv": epochs_csv(trained),
    }
    with naming(folder):
        for name, text in files.items():
            write_whole(folder / name, text)
    return [folder / name for name in files]


def show(facts: TrainingFacts, trained: Sequence[Trained], console: Console) -> None:
    """Print the tables."""
    for table in training.tables(facts, analyse(facts, trained)):
        console.print()
        terminal.render(console, table, MARKDOWN)


def results_csv(facts: TrainingFacts, rows: Sequence[TrainedRow]) -> str:
    """Write the table of results as plain numbers; the first seven columns after the row are those of the table."""
    names = {(one.cell, one.nudged): name for row in rows for one, name in _named(row)}
    fields: dict[str, Callable[[TrainedCell], csv.Value]] = {
        "row": lambda one: one.cell.row,
        "framework": lambda one: names[one.cell, one.nudged],
        "accuracy": lambda one: _value(one.accuracy),
        "loss": lambda one: _value(one.cross_entropy),
        "mean_execution_s": lambda one: _value(one.train_s),
        "training_epochs": lambda one: facts.epochs,
        "training_images": lambda one: one.runs[0].training if one.runs else None,
        "validation_images": lambda one: one.runs[0].validation if one.runs else None,
        "column": lambda one: one.cell.column,
        "nudged": lambda one: int(one.nudged),
        "seeds": lambda one: len(one.runs),
        "accuracy_low": lambda one: _low(one.accuracy),
        "accuracy_high": lambda one: _high(one.accuracy),
        "loss_low": lambda one: _low(one.cross_entropy),
        "loss_high": lambda one: _high(one.cross_entropy),
        "mean_execution_low_s": lambda one: _low(one.train_s),
        "mean_execution_high_s": lambda one: _high(one.train_s),
        "squared_error": lambda one: _value(one.squared_error),
        "accuracy_difference": lambda one: _value(one.difference),
        "largest_accuracy_difference": lambda one: one.largest_difference,
        "parameters_apart": lambda one: one.apart,
        "largest_parameters_apart": lambda one: one.largest_apart,
        "start_s": lambda one: _value(one.start_s),
        "target_accuracy": lambda one: facts.target,
        "target_s": lambda one: _value(one.target_s),
        "status": lambda one: one.failed.status if one.failed else "ok",
        "reason": lambda one: one.failed.reason if one.failed else None,
    }
    return csv.render(fields, [one for row in rows for one in row.cells])


def _named(row: TrainedRow) -> Iterator[tuple[TrainedCell, str]]:
    return zip(row.cells, trained_names(row), strict=True)


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _low(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.low


def _high(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.high


def epochs_csv(trained: Sequence[Trained]) -> str:
    """Write a row for each epoch of each training."""
    fields: dict[str, Callable[[_EpochRow], csv.Value]] = {
        "row": lambda one: one.trained.coordinate.row,
        "column": lambda one: one.trained.coordinate.column,
        "nudged": lambda one: int(one.trained.nudged),
        "seed": lambda one: one.trained.seed,
        "epoch": lambda one: one.number + 1,
        "train_s": lambda one: one.trained.epochs[one.number].train_ns / 1e9,
        "cpu_s": lambda one: one.trained.epochs[one.number].cpu_ns / 1e9,
        "accuracy": lambda one: one.trained.epochs[one.number].accuracy,
        "loss": lambda one: one.trained.epochs[one.number].cross_entropy,
        "squared_error": lambda one: one.trained.epochs[one.number].squared_error,
    }
    return csv.render(fields, _epochs(trained))


def _epochs(trained: Sequence[Trained]) -> Iterator[_EpochRow]:
    for one in trained:
        yield from (_EpochRow(one, number) for number in range(len(one.epochs)))
