"""Trains the selected cells to a result: whole epochs on real data, several seeds, accuracy, loss and time."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..counts import counted
from ..refusal import Refused
from ..study import location
from . import announce, damaged_lines, exit_codes, study_options
from .run import announce_shortcomings, prepare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.cell import Cell

    from ..measuring.training_run import TrainingPlan
    from ..storage.training_records import Trained
    from ..study.plan import Plan
    from ..study.schema import Study

#: The size without --size: the batch that the workloads' pages call small.
SIZE = "small"
MOST_SEEDS = 1000
#: Options of a selection that say how steps are timed and compared.
WITHOUT_MEANING = ("budget", "strict", "largest_batch", "ratios", "details", "figures")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study_options.add_environment(parser)
    parser.add_argument(
        "--data",
        type=location.path_option,
        metavar="FOLDER",
        help="the images of the one workload that is chosen, instead of its own",
    )
    parser.add_argument("--epochs", type=_count, default=10, metavar="N", help="passes over the images; 10 by default")
    parser.add_argument(
        "--seeds", type=_count, default=3, metavar="N", help="trainings with other weights and orders; 3 by default"
    )
    parser.add_argument(
        "--validation", type=_share, default=0.3, metavar="SHARE", help="images that are held out; 30%% by default"
    )
    parser.add_argument(
        "--time-to", type=_share, metavar="ACCURACY", help="also show the time to an accuracy, such as 95%%"
    )
    parser.add_argument("--fresh", action="store_true", help="start over instead of continuing")
    study_options.add_arguments(parser)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_SEEDS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MOST_SEEDS}")
    return int(text)


def _share(text: str) -> float:
    """Read a share such as 30% or 0.3."""
    number, size = (text[:-1], 100.0) if text.endswith("%") else (text, 1.0)
    try:
        found = float(number) / size
    except ValueError:
        found = 0.0
    if not 0.0 < found < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share between 0 and 1; give for example 30% or 0.3")
    return found


def run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..interrupts import ignoring_interrupts, interrupted_by_signals
    from ..measuring.training_run import TrainingPlan, TrainingRun
    from ..reporting import training
    from ..reporting.words.files import list_files
    from ..storage import training_records
    from ..storage.run_lock import exclusive

    given = [f"--{name.replace('_', '-')}" for name in WITHOUT_MEANING if getattr(options, name)]
    if given:
        raise Refused(f"{', '.join(given)}: a training has no use for it. Remove it, or measure steps with a run.")
    options.size = options.size or [SIZE]
    study = study_options.with_interpreters(study_options.read_study(options), options)
    plan = study_options.plan(study, options, environments=options.environment)
    plan, data = _trainable(study, plan, options)
    seeds = tuple(range(plan.seed, plan.seed + options.seeds))
    course = TrainingPlan(options.epochs, seeds, options.validation, options.time_to)
    for line in _preview(plan, course):
        announce(line)
    if options.dry_run:
        announce_shortcomings(study, plan, options)
        return exit_codes.EXIT_OK
    with exclusive(options.root), interrupted_by_signals():
        prepared = prepare(study, plan, options, thorough=options.verify)
        made = TrainingRun(options.root, study, plan, prepared, course, data, announce)
        # Where this refuses, what lies there is of another training.
        made.begin(fresh=options.fresh)
        try:
            made.train()
        finally:
            damaged: list[str] = []
            found = training_records.read(made.folder, damaged)
            damaged_lines.tell(f"The training of {study.settings.name}", damaged)
            if found is not None and found[1]:
                # What was continued may have been begun without an accuracy, or with another one.
                facts, trained = found[0].model_copy(update={"target": options.time_to}), found[1]
                with ignoring_interrupts():
                    paths = training.write(facts, trained, made.folder)
                    training.show(facts, trained, Console())
                    announce(list_files(paths, options.root))
    assert found is not None
    return _exit_code(found[1])


def _trainable(study: Study, plan: Plan, options: argparse.Namespace) -> tuple[Plan, Mapping[str, Path | None]]:
    """Keep the cells that can be trained to a result, and return the folder of each workload's images.

    Raises Refused where none is left, and for --data with several workloads.
    """
    from ..study.twin import is_twin

    cells = [cell for cell in plan.cells if not is_twin(cell)]
    if not cells:
        left_out = "; ".join(dict.fromkeys(reason for _cell, reason in plan.excluded)) or "the choice has no cell"
        raise Refused(f"Nothing can be trained to a result: {left_out}.")
    named = list(dict.fromkeys(cell.workload for cell in cells))
    if options.data is not None and len(named) != 1:
        raise Refused(f"--data: it is for one workload; chosen are {', '.join(named)}. Add --workload.")
    data = {name: options.data or study.workloads[name].data for name in named}
    reasons = {name: why for name in named if (why := _problem(study, name, data[name])) is not None}
    kept = tuple(cell for cell in cells if cell.workload not in reasons)
    if not kept:
        said = "; ".join(f"{name}: {why}" for name, why in reasons.items())
        learners = [name for name in study.workloads if hasattr(study.registry.specification(name), "examples")]
        if learners:
            remedy = f"Workloads of this study with examples: {', '.join(learners)}."
        else:
            remedy = "No workload of this study has examples; add one, such as [workloads.lenet-train]."
        raise Refused(f"Nothing can be trained to a result: {said}. {remedy}")
    for name, why in reasons.items():
        if options.workload:
            announce(f"Left out: {name}: {why}")
    found = {name: None if path is None else path.expanduser().resolve() for name, path in data.items()}
    return replace(plan, cells=kept), {name: found[name] for name in named if name not in reasons}


def _problem(study: Study, workload: str, data: Path | None) -> str | None:
    """Say why a workload cannot be trained to a result; None where it can."""
    specification = study.registry.specification(workload)
    if not hasattr(specification, "examples"):
        return "it has no examples to learn from"
    if data is None and specification.source(None)[0] is None:
        return "it brings no images: name their folder with --data, or as data in the study file"
    return None


def _preview(plan: Plan, course: TrainingPlan) -> list[str]:
    cells: list[Cell] = list(plan.cells)
    columns = ", ".join(dict.fromkeys(cell.column for cell in cells))
    lines = list(dict.fromkeys(cell.row for cell in cells))
    trainings = (len(cells) + len(lines)) * len(course.seeds)
    return [
        f"To train: {', '.join(lines)}: {columns}",
        f"{counted(len(course.seeds), 'seed')}, {counted(course.epochs, 'epoch')}: {trainings} trainings; the "
        "baseline is trained twice for each row and seed, to show the effect of rounding",
    ]


def _exit_code(trained: Sequence[Trained]) -> int:
    """Return 1 where a training ended badly, as a run does; what this machine does not support is no failure."""
    from bench.record import OK, UNSUPPORTED

    failed = [one for one in trained if one.status not in (OK, UNSUPPORTED)]
    well = any(one.status == OK for one in trained)
    return exit_codes.EXIT_OK if well and not failed else exit_codes.EXIT_FAILED
