"""Knows the command behind ``nox -s validate``: its options, and where the work is handed to."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from .. import environments
from ..machine.processors import physical_cores
from ..storage.run_lock import Refused, exclusive
from ..study import study_file
from ..study.options import STUDY_FILE, threads
from ..study.schema import Study
from ..study.suggestion import unknown
from ..validation import summary
from ..validation.trial_plan import PLANTED, SAME
from ..validation.validation import Validation, read_traces

SAME_ONLY, PLANTED_ONLY = "same", "planted"


def run(options: argparse.Namespace) -> int:
    """Prove the method: compare cells whose true ratio is known, or judge the traces of an earlier proof again."""
    if options.traces:
        return _judge_traces(options.traces)
    study = study_file.load(options.matrix)
    count = physical_cores() if options.threads == "all" else options.threads
    with exclusive(options.root):
        prepared = {
            name: environments.prepare(study.environments[name], root=options.root, announce=announce)
            for name in _named(study, options.environment)
        }
        session = Validation(options.root, study, prepared, count, Console())
        part, parts = options.part
        wanted = [
            trial
            for trial in session.trials(options.same, options.planted)
            if options.only is None or bool(trial.slowdown) == (options.only == PLANTED_ONLY)
        ]
        return _said(session.report(session.measure(wanted[part - 1 :: parts], fresh=options.fresh)))


def _judge_traces(paths: Sequence[Path]) -> int:
    traces = []
    for path in paths:
        try:
            traces += read_traces(path)
        except (OSError, ValueError) as error:
            raise Refused(f"{path}: no traces can be read: {error}") from None
    if len({trace.trial for trace in traces}) < len(traces):
        raise Refused(
            "--traces: some trials are there more than once, so their rates would be no rates; give each once"
        )
    found = summary.kinds(traces)
    announce(summary.describe(found))
    return _said(found)


def _said(found: Sequence[summary.Kind]) -> int:
    """Return 1 where the rates refute what the method promises, after saying so; else 0."""
    broken = summary.broken_promises(found)
    for sentence in broken:
        announce(sentence)
    return 1 if broken else 0


def _named(study: Study, names: Sequence[str]) -> list[str]:
    unknown_names = [name for name in names if name not in study.environments]
    if unknown_names:
        raise Refused(f"--environment: {unknown('environment', unknown_names[0], study.environments)}")
    return list(names) or list(study.settings.default)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``nox -s validate``."""
    parser.add_argument("--matrix", type=Path, default=STUDY_FILE, metavar="FILE", help="the study file")
    parser.add_argument("--environment", action="append", default=[], help="environments; the study's by default")
    parser.add_argument("--same", type=int, default=SAME, metavar="N", help="comparisons of a cell with itself")
    parser.add_argument(
        "--planted",
        type=_planted,
        default=dict(PLANTED),
        metavar="PERCENT:N,…",
        help="comparisons with so much extra work, for example 2:59,5:20",
    )
    parser.add_argument(
        "--threads", type=threads, default=1, metavar="N|all", help="threads of every framework; 1 by default"
    )
    parser.add_argument(
        "--only", choices=(SAME_ONLY, PLANTED_ONLY), help="only the identical cells, or only the planted slowdowns"
    )
    parser.add_argument("--fresh", action="store_true", help="start over, whatever is there")
    parser.add_argument(
        "--part",
        type=_part,
        default=(1, 1),
        metavar="K/N",
        help="only every Nth comparison, from the Kth on: several checkouts share the work",
    )
    parser.add_argument(
        "--traces", type=Path, nargs="+", metavar="FILE", help="measure nothing; judge these stored traces together"
    )


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


def announce(text: str) -> None:
    print(text, flush=True)
