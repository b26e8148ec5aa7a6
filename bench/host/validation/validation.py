"""Knows the session: which environments take part, what is done already, and where traces and the table go."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from bench.record import OK

from ..environments import Prepared
from ..executors.starter import Starter
from ..machine import facts, processors
from ..project import STATE
from ..refusal import Refused
from ..reporting.words.numbers import duration
from ..setup.staging import write_whole
from ..statistics import stopping
from ..storage.compile_caches import CompileCaches
from ..storage.journal import end_last_line, read_lines
from ..storage.references import References
from ..study.schema import Environment, Study
from . import summary, trial_plan
from .measure import PROFILE, SEED, Bench
from .trial import Trace, Trial

#: The host's own Python, which always has NumPy.
NUMPY = Environment.model_validate({"name": "numpy", "framework": "numpy", "provider": "existing", "modes": ("eager",)})
TRACES = "traces.jsonl"
#: Say how far it is at most this often.
SAY_S = 10.0


def looks() -> tuple[int, ...]:
    return stopping.looks(PROFILE.rounds, PROFILE.most_rounds or PROFILE.rounds)


def _places(bound: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return where the two workers of a comparison begin: where they are measured, and beside it if there is room."""
    others = processors.beside(bound)
    return [bound, others] if others else [bound]


def read_traces(path: Path) -> list[Trace]:
    """Read stored traces, compressed or not; raises ValueError for a line that is none."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            return [Trace.from_json(json.loads(line)) for line in lines]
    return [Trace.from_json(values) for values in read_lines(path)]


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
        self._console = console
        self._threads = threads
        self._registry = study.registry
        self.folder = root / "reports" / "validation"
        own = numpy or Prepared("numpy", OK, command=(sys.executable,))
        self._ready = {name: one for name, one in prepared.items() if one.status == OK}
        self._environments = {**study.environments, "numpy": NUMPY}
        caches = CompileCaches(root / STATE / "compile-caches", "validation", True, registry=study.registry)
        bound = processors.chosen(threads)
        starter = Starter(root, self.folder, {**self._ready, "numpy": own}, self._environments, caches, bound)
        references = References(root, root / STATE / "references", SEED, threads, study.registry)
        # A container cannot leave the processors that it was given.
        moving = all(one.manifest.get("provider") != "container" for one in self._ready.values())
        places = [replace(starter, processors=place).start for place in (_places(bound) if moving else [bound])]
        self.bench = Bench(root / STATE / "validation", references, places, bound, looks())

    def trials(self, same: int, planted: Mapping[float, int]) -> list[Trial]:
        """List the trials: most with NumPy, whose processes start quickly, the rest with the frameworks at hand."""
        columns = [
            (name, self._environments[name].framework, mode)
            for name in self._ready
            for mode in self._environments[name].modes
            # What is proved is the method, not the mode.
            if self._registry.facts(self._environments[name].framework).mode(mode).validated
        ]
        heavy = trial_plan.cells(columns, self._threads) if columns else None
        light = trial_plan.cells([("numpy", "numpy", "eager")], self._threads)
        return trial_plan.plan(trial_plan.mixed(light, heavy), same, planted, SEED)

    def measure(self, wanted: Iterable[Trial], *, fresh: bool) -> list[Trace]:
        """Measure the trials that have no trace yet; each trace is kept as soon as it exists."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / TRACES
        if fresh:
            path.unlink(missing_ok=True)
        end_last_line(path)
        done = {trace.trial: trace for trace in self._kept(path) if trace.looks == self.bench.looks}
        listed = list(wanted)
        left = [trial for trial in listed if trial not in done]
        if len(left) < len(listed):
            self._say(f"{len(listed) - len(left)} of {len(listed)} comparisons are there; --fresh starts over.")
        began = said = time.monotonic()
        for number, trial in enumerate(left):
            trace = self.bench.measure(trial)
            done[trial] = trace
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(trace.to_json()) + "\n")
            now = time.monotonic()
            if now - said >= SAY_S or number == len(left) - 1:
                said = now
                rest = (now - began) / (number + 1) * (len(left) - number - 1)
                self._say(f"[{number + 1}/{len(left)}] {trial.cell.name}, left: {duration(rest)}")
        return [done[trial] for trial in listed]

    def _kept(self, path: Path) -> list[Trace]:
        try:
            return read_traces(path)
        except ValueError as error:
            raise Refused(f"{path}: no traces can be read: {error}; --fresh starts over") from None

    def report(self, traces: Iterable[Trace]) -> list[summary.Kind]:
        """Print the table and write it beside the traces."""
        found = summary.kinds(traces)
        about = facts.describe()
        text = f"{summary.describe(found)}\n\nMachine: {about['processor']}, {self._threads} threads.\n"
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
        write_whole(self.folder / "table.md", text)
        return found

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
