"""Compares installations of the same packages: what differs is only where their libraries lie in memory.

    nox -s benchmarks -- placement [--installations 6] [--pairs 12] [--repeats 3]

Every installation is compared with the first one, in pairs of processes that take turns, as ``nox -s bisect`` measures
them: with libraries that stay where they are, and with libraries that each round places anew. The true difference is
none. The last column is the square of the mean over its standard error, averaged over the comparisons: 1 is what chance
gives; more means that the pairs agree with each other on a difference that is not there.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import numpy as np
from rich.console import Console
from tabulate import tabulate

from bench.cell import Cell
from bench.host import environments
from bench.host.__main__ import parser
from bench.host.commands import bisect, study_options
from bench.host.environments import Prepared
from bench.host.executors.placements import Placements
from bench.host.measuring.pair_measurement import PairMeasurement
from bench.host.statistics.location import FloatArray

from . import _releases
from ._releases import STUDY, version

WAYS = ("kept", "placed anew")


def measurement(project: Path, count: int) -> tuple[PairMeasurement, list[Cell], dict[str, Prepared]]:
    """Install releases that compute the same."""
    versions = [version(number, 0) for number in range(count)]
    (project / "matrix.toml").write_text(STUDY.format(name="placement", first=versions[0], seed=1, versions=versions))
    given = ["bisect", "tiny", "--matrix", str(project / "matrix.toml")]
    options = parser(given).parse_args(given, argparse.Namespace(root=project))
    study = study_options.read_study(options)
    plan, cells = bisect.releases(study, options)
    prepared = {
        cell.environment: environments.prepare(
            study.environments[cell.environment], root=project, announce=print, registry=study.registry
        )
        for cell in cells
    }
    profile = plan.profile.model_copy(update={"workers": "own", "peaks": False})
    quiet = Console(file=io.StringIO())
    return PairMeasurement(project, project / "reports", study, profile, plan.seed, quiet), cells, prepared


def pairs(
    made: PairMeasurement,
    cell: Cell,
    reference: Cell,
    prepared: Mapping[str, Prepared],
    way: str,
    count: int,
    turn: int,
) -> FloatArray:
    """Return the log ratios of one comparison, measured now."""
    own = PairMeasurement(
        made.root, made.folder / f"{way}-{turn}", made.study, made.profile, made.seed + turn, made.console
    )
    both = {name: prepared[name] for name in (cell.environment, reference.environment)}
    with contextlib.ExitStack() as stack:
        if way == "kept":
            stack.enter_context(mock.patch.object(Placements, "draw"))
        found, failed = own.measure(cell, reference, both, count)
    if failed:
        raise SystemExit(f"not measured: {failed}")
    return found


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("--installations", type=int, default=6)
    given.add_argument("--pairs", type=int, default=12, help="of each comparison")
    given.add_argument("--repeats", type=int, default=3, help="of every comparison")
    options = given.parse_args()
    with contextlib.ExitStack() as stack:
        project = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _releases.write_plugin(project)
        stack.enter_context(_releases.served(project, [0]))
        made, cells, prepared = measurement(project, options.installations)
        found: dict[str, list[FloatArray]] = {way: [] for way in WAYS}
        for turn in range(options.repeats):
            for cell in cells[1:]:
                for way in WAYS:
                    found[way].append(pairs(made, cell, cells[0], prepared, way, options.pairs, turn))
    rows = []
    for way, comparisons in found.items():
        means = np.array([values.mean() for values in comparisons])
        errors = np.array([values.std(ddof=1) / np.sqrt(len(values)) for values in comparisons])
        shown = (100.0 * np.abs(means).max(), 100.0 * np.median(errors), float(np.mean((means / errors) ** 2)))
        rows.append((way, len(comparisons), *(f"{value:.2f}" for value in shown)))
    titles = ("libraries", "comparisons", "largest mean, %", "standard error, %", "square of their ratio")
    print(tabulate(rows, titles, disable_numparse=True))


if __name__ == "__main__":
    main()
