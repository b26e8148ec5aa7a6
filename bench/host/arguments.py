"""Knows the options by which an invocation selects a part of a study."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Literal

STUDY_FILE = Path(__file__).resolve().parents[2] / "matrix.toml"

#: option: what it selects. Each takes patterns, separated by commas or given repeatedly.
PATTERN_OPTIONS = {
    "workload": ("'mlp-*'", "workloads; all by default"),
    "mode": ("eager", "modes; all of an environment by default"),
    "size": ("small", "sizes; those of the profile by default"),
    "precision": ("float32", "precisions; those of the study by default"),
    "device": ("cpu", "devices; those of the study by default"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a study file and a part of it; ``selection.from_options`` understands them."""
    parser.add_argument("--matrix", type=Path, default=STUDY_FILE, metavar="FILE", help="the study file")
    for option, (example, help_text) in PATTERN_OPTIONS.items():
        parser.add_argument(
            f"--{option}",
            type=_patterns,
            action="extend",
            default=[],
            metavar="PATTERN",
            help=f"{help_text}; for example {example}",
        )
    parser.add_argument(
        "--profile", metavar="NAME", help="how thoroughly to measure; the study's by default; for example quick"
    )
    parser.add_argument(
        "--threads", type=_threads, metavar="N|all", help="threads of every framework; the study's by default"
    )
    parser.add_argument(
        "--interpreter",
        type=_interpreter,
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="the interpreter of an environment, instead of the study's",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would be measured, and measure nothing")


def _patterns(text: str) -> list[str]:
    patterns = [pattern.strip() for pattern in text.split(",") if pattern.strip()]
    if not patterns:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing; give names or patterns separated by commas")
    return patterns


def _threads(text: str) -> Literal["all"] | int:
    if text == "all":
        return "all"
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number of at least 1 nor 'all'")
    return int(text)


def _interpreter(text: str) -> tuple[str, str]:
    name, _, path = text.partition("=")
    if not name or not path:
        raise argparse.ArgumentTypeError(f"{text!r}: write NAME=PATH, for example torch2=/usr/bin/python3")
    return name, os.path.expandvars(os.path.expanduser(path))
