"""Runs a validation: chooses the environments, measures the trials that are left, stores their data and the table."""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console

from bench.record import OK

from ..counts import counted
from ..environments import Prepared
from ..executors.job import InstalledEnvironment
from ..executors.local import LocalExecutor
from ..project import REPORTS, STATE
from ..refusal import Refused
from ..reporting.renderers import terminal
from ..reporting.words.numbers import duration
from ..setup.staging import write_whole
from ..statistics import stopping
from ..storage.journal import end_last_line, read_lines
from ..study.environment import Environment
from ..study.schema import Study
from . import summary, trial_plan
from .measure import PROFILE, SEED, TrialMeasurement
from .trial import Trial, TrialData

#: The host's own Python, which always has NumPy.
NUMPY = Environment.model_validate({"name": "numpy", "framework": "numpy", "provider": "existing", "modes": ("eager",)})
#: The data of the trials; the name is that of the stored reference.
TRIALS = "traces.jsonl"
#: Seconds between two lines of progress, at least.
SAY_S = 10.0


def looks() -> tuple[int, ...]:
    return stopping.looks(PROFILE.rounds, PROFILE.most_rounds or PROFILE.rounds)


def read_trials(path: Path, damaged: list[str] | None = None) -> list[TrialData]:
    """Read stored trials, compressed or not; raises ValueError for a line that is not trial data.

    ``damaged`` gets the place of a line that a kill cut short.
    """
    return [TrialData.from_json(values) for values in read_lines(path, damaged)]


class Validation:
    """One validation of the method on this machine."""

    def __init__(
        self,
        root: Path,
        study: Study,
        prepared: Mapping[str, Prepared],
        threads: int,
        console: Console,
        *,
        numpy: Prepared | None = None,
    ) -> None:
        """``numpy`` is the environment of the cells that start quickly; by default the host's own Python."""
        self._root = root
        self._say = functools.partial(terminal.say, console)
        self._threads = threads
        self._registry = study.registry
        self.folder = root / REPORTS / "validation"
        own = numpy or Prepared("numpy", OK, command=(sys.executable,))
        self._ready = {name: one for name, one in prepared.items() if one.status == OK}
        self._environments = {**study.environments, "numpy": NUMPY}
        installed = InstalledEnvironment.of_each({**self._ready, "numpy": own}, self._environments)
        self.trial_measurement = TrialMeasurement(
            root / STATE / "validation",
            LocalExecutor(root, self.folder),
            installed,
            looks(),
            study.registry.others,
            # A container cannot leave the processors that it was given.
            can_move=not any(one.in_container for one in installed.values()),
        )

    def trials(self, same: int, planted: Mapping[float, int], *, with_numpy: bool = True) -> list[Trial]:
        """List the trials: most with NumPy, whose processes start quickly, the rest with the frameworks at hand.

        Without NumPy they are all of the frameworks; raises Refused where none is at hand.
        """
        columns = [
            (name, self._environments[name].framework, mode)
            for name in self._ready
            for mode in self._environments[name].modes
            if self._is_validated(self._environments[name].framework, mode)
        ]
        heavy = trial_plan.cells(columns, self._threads) if columns else None
        if heavy is not None:
            heavy = (cell for cell in heavy if self._registry.has_implementation(cell.workload, cell.framework))
        if not with_numpy:
            if heavy is None:
                raise Refused("--no-numpy: none of the environments has a mode that takes part in a validation")
            return trial_plan.plan(heavy, same, planted, SEED)
        light = trial_plan.cells([("numpy", "numpy", "eager")], self._threads)
        return trial_plan.plan(trial_plan.mixed(light, heavy), same, planted, SEED)

    def _is_validated(self, framework: str, mode: str) -> bool:
        """Tell whether cells of a mode take part: not all of its kind are needed, as what is proved is the method."""
        kernels = [workload for workload, _ in trial_plan.KERNELS]
        implemented = any(self._registry.has_implementation(workload, framework) for workload in kernels)
        return implemented and self._registry.facts(framework).mode(mode).validated

    def measure(self, wanted: Iterable[Trial], *, fresh: bool) -> list[TrialData]:
        """Measure the trials that are not stored yet; each is stored as soon as it is measured."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / TRIALS
        if fresh:
            path.unlink(missing_ok=True)
        end_last_line(path)
        done = {data.trial: data for data in self._stored(path) if data.looks == looks()}
        listed = list(wanted)
        left = [trial for trial in listed if trial not in done]
        if len(left) < len(listed):
            self._say(f"{len(listed) - len(left)} of {len(listed)} comparisons are there; --fresh starts over.")
        began = said = time.monotonic()
        for number, trial in enumerate(left):
            data = self.trial_measurement.measure(trial)
            done[trial] = data
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(data.to_json()) + "\n")
            now = time.monotonic()
            if now - said >= SAY_S or number == len(left) - 1:
                said = now
                rest = (now - began) / (number + 1) * (len(left) - number - 1)
                self._say(f"[{number + 1}/{len(left)}] {trial.cell.name}, left: {duration(rest)}")
        return [done[trial] for trial in listed]

    def _stored(self, path: Path) -> list[TrialData]:
        try:
            return read_trials(path)
        except ValueError as error:
            raise Refused(f"{path}: no trial data can be read: {error}; --fresh starts over") from None

    def report(self, measured: Iterable[TrialData]) -> list[summary.TrialGroup]:
        """Print the table and write it beside the data."""
        found = summary.group_trials(measured)
        about = self.trial_measurement.executor.machine()
        text = f"{summary.describe(found)}\n\nMachine: {about['processor']}, {counted(self._threads, 'thread')}.\n"
        self._say(text)
        write_whole(self.folder / "table.md", text)
        return found
