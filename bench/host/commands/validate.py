"""Proves the method: measures cells whose true ratio is known, or judges the stored data of such measurements."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..refusal import Refused
from ..study import location
from ..study.suggestion import unknown
from . import announce, study_options

if TYPE_CHECKING:
    from ..study.schema import Study
    from ..validation import summary

SAME_ONLY, PLANTED_ONLY = "same", "planted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    study_options.add_environment(parser)
    parser.add_argument("--same", type=_same, metavar="N", help="comparisons of a cell with itself")
    parser.add_argument(
        "--planted",
        type=_planted,
        metavar="PERCENT:N,…",
        help="comparisons with so much extra work, for example 2:59,5:20",
    )
    parser.add_argument(
        "--threads",
        type=study_options.threads,
        default=1,
        metavar="N|all",
        help="threads of every framework; 1 by default",
    )
    parser.add_argument(
        "--only", choices=(SAME_ONLY, PLANTED_ONLY), help="only the identical cells, or only the planted slowdowns"
    )
    parser.add_argument(
        "--no-numpy",
        action="store_true",
        help="compare cells of the environments alone; otherwise most comparisons are of NumPy, which starts quickly",
    )
    parser.add_argument("--fresh", action="store_true", help="start over instead of continuing")
    parser.add_argument(
        "--part",
        type=_part,
        default=(1, 1),
        metavar="K/N",
        help="only every Nth comparison, from the Kth on: several machines can share the work",
    )
    parser.add_argument(
        "--trials",
        type=location.path_option,
        nargs="+",
        metavar="FILE",
        help="measure nothing; judge the stored trials of these files together",
    )


def run(options: argparse.Namespace) -> int:
    return _judge_trials(options.trials) if options.trials else _measure(options)


def _measure(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..environments.building import prepare_all
    from ..machine.processors import physical_cores
    from ..storage.run_lock import exclusive
    from ..validation import trial_plan
    from ..validation.validation import Validation

    study = study_options.read_study(options)
    count = physical_cores() if options.threads == "all" else options.threads
    same = trial_plan.SAME if options.same is None else options.same
    planted = dict(trial_plan.PLANTED) if options.planted is None else options.planted
    with exclusive(options.root):
        named = [study.environments[name] for name in _named(study, options.environment)]
        prepared = prepare_all(named, root=options.root, announce=announce, registry=study.registry)
        session = Validation(options.root, study, prepared, count, Console())
        part, parts = options.part
        wanted = [
            trial
            for trial in session.trials(same, planted, with_numpy=not options.no_numpy)
            if options.only is None or bool(trial.slowdown) == (options.only == PLANTED_ONLY)
        ]
        return _said(session.report(session.measure(wanted[part - 1 :: parts], fresh=options.fresh)))


def _judge_trials(paths: Sequence[Path]) -> int:
    """Judge stored trials together, and measure nothing."""
    from ..validation import summary
    from ..validation.validation import read_trials

    stored = []
    damaged: list[str] = []
    for path in paths:
        if not path.exists():
            raise Refused(f"--trials: {path} does not exist.")
        try:
            stored += read_trials(path, damaged)
        except (OSError, ValueError) as error:
            raise Refused(f"{path}: no trial data can be read: {error}") from None
        if damaged:
            raise Refused(f"{path}: no trial data can be read: {damaged[0]}. Restore the file from a copy.")
    if len({data.trial for data in stored}) < len(stored):
        raise Refused(
            "--trials: some trials are given more than once, which would change their rates; give each file once"
        )
    found = summary.group_trials(stored)
    announce(summary.describe(found))
    return _said(found)


def _said(found: Sequence[summary.TrialGroup]) -> int:
    """Print each promise of the method that the rates refute; return 1 where there is one, else 0."""
    from ..validation import summary

    broken = summary.broken_promises(found)
    for sentence in broken:
        announce(sentence)
    return 1 if broken else 0


def _named(study: Study, names: Sequence[str]) -> list[str]:
    unknown_names = [name for name in names if name not in study.environments]
    if unknown_names:
        raise Refused(f"--environment: {unknown('environment', unknown_names[0], study.environments)}")
    return list(names) or list(study.settings.default)


def _same(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of comparisons, such as 40")
    return int(text)


def _planted(text: str) -> dict[float, int]:
    try:
        pairs = [part.split(":") for part in text.split(",") if part]
        planted = {float(percent) / 100.0: int(count) for percent, count in pairs}
    except ValueError:
        planted = {}
    if not all(0.0 < share <= 1.0 and count > 0 for share, count in planted.items()) or not (planted or not text):
        raise argparse.ArgumentTypeError(f"{text!r}: give percent and number, for example 2:59,5:20")
    return planted


def _part(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r}: give a part and the number of parts, for example 1/2")
    return int(part), int(parts)
