"""Defines the options by which an invocation selects a part of a study."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..study import location
from ..study.baseline import RATIOS
from ..study.location import StudyError
from ..study.suggestion import unknown
from ..study.toml_limits import MOST_THREADS

if TYPE_CHECKING:
    from ..study.plan import Plan
    from ..study.schema import Study

#: {option: (an example of its patterns, what they select)}
PATTERN_OPTIONS = {
    "workload": ("'mlp-*'", "workloads; all by default"),
    "mode": ("eager", "modes; all of an environment by default"),
    "size": ("small", "sizes; those of the profile by default"),
    "precision": ("float32", "precisions; those of the study by default"),
    "device": ("cpu", "devices; those of the study by default"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a study file and a part of it; ``plan`` takes their values."""
    add_selection_arguments(parser)
    parser.add_argument(
        "--budget",
        type=duration,
        metavar="TIME",
        help="time for measuring, such as 90s, 10m or 2h: what is settled stops early, the others get more rounds",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="give no ratio between cells that differ in settings a user could have made equal",
    )
    parser.add_argument(
        "--largest-batch",
        type=size,
        metavar="SIZE",
        help="also find the largest batch that fits into this much memory, such as 2GiB, for every cell",
    )
    add_report_arguments(parser)


def add_selection_arguments(parser: argparse.ArgumentParser) -> None:
    """Add those of the options that also mean something where no table is made."""
    location.add_argument(parser)
    add_pattern_options(parser, PATTERN_OPTIONS)
    parser.add_argument(
        "--profile", metavar="NAME", help="how thoroughly to measure; the study's by default; for example quick"
    )
    parser.add_argument(
        "--threads",
        type=several_threads,
        metavar="N|all",
        help="threads of every framework, or several separated by commas, such as 1,all; the study's by default",
    )
    parser.add_argument(
        "--interpreter",
        type=_interpreter,
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="the interpreter of an environment, instead of the study's",
    )
    parser.add_argument(
        "--verify", action="store_true", help="compare the hash of every installed file with what was built"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would be measured, and measure nothing")


def add_pattern_options(parser: argparse._ActionsContainer, described: Mapping[str, tuple[str, str]]) -> None:
    """Add options that select cells by patterns, separated by commas or given repeatedly.

    ``patterns.cell_fits`` takes their values. ``described`` is {option: (example of its patterns, what they select)}.
    """
    for option, (example, selected) in described.items():
        parser.add_argument(
            f"--{option}",
            type=patterns,
            action="extend",
            default=[],
            metavar="PATTERN",
            help=f"{selected}; for example {example}",
        )


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how results are shown."""
    parser.add_argument(
        "--baseline",
        metavar="COLUMN",
        help="what the others are compared with: a column, such as jax:jit, the best of each row (best), or the same "
        "framework and mode at the version before (previous); the study's by default",
    )
    parser.add_argument(
        "--ratios",
        choices=RATIOS,
        help="show how many times as fast a column is (speedup, the default), or how many times as long it takes "
        "(ratio): in the first table and its sentences, the page, the figure of speed-ups and the LaTeX files; data "
        "files, claims, the details and the ranking do not change",
    )
    parser.add_argument("--details", action="store_true", help="print every table, not only the speed-ups")
    parser.add_argument("--figures", action="store_true", help="draw every figure, not only that of the speed-ups")
    parser.add_argument("--language", metavar="NAME", help="the language of the report, such as pt_BR; en by default")


def read_study(options: argparse.Namespace) -> Study:
    """Read the study that an invocation is about; raises StudyError."""
    return read_file(options.matrix, options)


def read_file(named: Path | None, options: argparse.Namespace) -> Study:
    """Read the study file ``named``, or that of the project; raises StudyError."""
    # Imported only now: pydantic takes a quarter of a second, and these options are also part of --help.
    from ..study import study_file

    return study_file.load(location.locate(named, options.root), root=options.root)


def with_interpreters(study: Study, options: argparse.Namespace) -> Study:
    """Put the interpreters of ``--interpreter NAME=PATH`` in place of the study's; raises StudyError."""
    given: dict[str, str] = dict(options.interpreter)
    errors = [
        f"--interpreter: {unknown('environment', name, study.environments)}"
        for name in given
        if name not in study.environments
    ]
    errors += [
        f"--interpreter: environment {name} is a container, which has the interpreter of its image; name another one"
        for name in given
        if name in study.environments and study.environments[name].provider == "container"
    ]
    # What shares an installation has its interpreter.
    owners = {name: each.lock_owner for name, each in study.environments.items() if each.provider != "container"}
    errors += [
        f"--interpreter: environment {name} has the installation of {owners[name]}; name that one"
        for name in given
        if owners.get(name, name) != name
    ]
    if errors:
        raise StudyError(errors)
    environments = {
        name: environment.model_copy(update={"interpreter": given[owners[name]]})
        if owners.get(name) in given
        else environment
        for name, environment in study.environments.items()
    }
    return study.model_copy(update={"environments": environments})


def plan(study: Study, options: argparse.Namespace, *, environments: Sequence[str]) -> Plan:
    """Plan what the options of ``add_arguments`` select within the named environments; raises StudyError."""
    from ..study.selection import Selection, select

    return select(
        study,
        Selection(
            environments=environments,
            modes=options.mode,
            workloads=options.workload,
            sizes=options.size,
            precisions=options.precision,
            devices=options.device,
            threads=options.threads,
            profile=options.profile,
            budget_s=options.budget,
            strict=options.strict,
            memory_cap_bytes=options.largest_batch,
            baseline=options.baseline,
            ratios=options.ratios,
        ),
    )


def add_environment(parser: argparse.ArgumentParser) -> None:
    """Add the option that names environments, once for each or separated by commas."""
    parser.add_argument(
        "--environment",
        action="extend",
        type=patterns,
        default=[],
        metavar="NAME",
        help="environments, such as torch2,jax; the study's by default",
    )


def patterns(text: str) -> list[str]:
    """Read patterns of names, separated by commas."""
    found = [pattern.strip() for pattern in text.split(",") if pattern.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing; give names or patterns separated by commas")
    return found


def threads(text: str) -> Literal["all"] | int:
    """Read a number of threads, or ``all``."""
    if text == "all":
        return "all"
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_THREADS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number from 1 to {MOST_THREADS:,} nor 'all'")
    return int(text)


def several_threads(text: str) -> tuple[Literal["all"] | int, ...]:
    """Read numbers of threads separated by commas."""
    return tuple(threads(part.strip()) for part in text.split(","))


SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
BYTES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def duration(text: str) -> float:
    """Read a time such as 90s, 10m or 2h, in seconds."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh])", text)
    seconds = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration; give for example 90s, 10m or 2h")
    return seconds


def size(text: str) -> int:
    """Read an amount of memory such as 512MiB, in bytes."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMG]iB)", text)
    size = float(found[1]) * BYTES[found[2]] if found else 0.0
    if not 1 <= size < 1 << 60:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of memory; give for example 512MiB or 2GiB")
    return int(size)


def _interpreter(text: str) -> tuple[str, str]:
    name, _, path = text.partition("=")
    if not name or not path:
        raise argparse.ArgumentTypeError(f"{text!r}: write NAME=PATH, for example torch2=/usr/bin/python3")
    return name, os.path.expandvars(os.path.expanduser(path))
