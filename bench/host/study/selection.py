"""Makes a plan from a study and the choices of one invocation; every cell left out keeps its reason."""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.cell import DEVICES, PRECISIONS, Cell

from .. import system
from ..machine.processors import physical_cores
from . import families, unlisted_modes, unlisted_workloads
from .baseline import CHOSEN, SPEED_UP
from .draft import sizes_of
from .environment import Environment
from .location import StudyError
from .patterns import fits
from .plan import Plan
from .schema import COORDINATES, Exclusion, Profile, Study
from .suggestion import unknown
from .twin import column_to_repeat, with_twin
from .values import Threads


@dataclass(frozen=True)
class Selection:
    """What one invocation chooses: patterns (``mlp-*``) by axis; an empty axis leaves the choice to the study."""

    environments: Sequence[str] = ()
    modes: Sequence[str] = ()
    workloads: Sequence[str] = ()
    sizes: Sequence[str] = ()
    precisions: Sequence[str] = ()
    devices: Sequence[str] = ()
    threads: Threads | None = None
    profile: str | None = None
    budget_s: float | None = None
    strict: bool = False
    memory_cap_bytes: int | None = None
    baseline: str | None = None
    ratios: str | None = None


def select(study: Study, selection: Selection) -> Plan:
    """Plan the chosen part of a study: ``cells`` and ``excluded`` together are the full product of the choice.

    Raises StudyError for patterns that match nothing in the study; their combination may be empty.
    """
    axes = _Axes(study, selection)
    profile = selection.profile or study.settings.profile
    if profile not in study.profiles:
        axes.errors.append(f"--profile: {unknown('profile', profile, study.profiles)}")
    every = [f"{environment.name}:{mode}" for environment in study.environments.values() for mode in environment.modes]
    if selection.baseline is not None and selection.baseline not in (*every, *CHOSEN):
        axes.errors.append(f"--baseline: {unknown('column', selection.baseline, every)}")
    if axes.errors:
        raise StudyError(axes.errors)
    cells, excluded = [], []
    for cell in axes.product(study.profiles[profile]):
        reason = reason_against(cell, study, chosen=bool(axes.sizes))
        if reason is None:
            cells.append(cell)
        else:
            excluded.append((cell, reason))
    baseline = _baseline(cells, selection.baseline or study.settings.baseline)
    # With a budget there are verdicts, which need a noise floor.
    twin = study.profiles[profile].twin or selection.budget_s is not None
    repeated = column_to_repeat(cells, baseline) if twin else None
    return Plan(
        with_twin(cells, repeated),
        tuple(excluded),
        study.profiles[profile] if system.forks() else study.profiles[profile].model_copy(update={"workers": "own"}),
        study.settings.seed,
        max((cell.threads for cell in cells), default=physical_cores()),
        baseline=baseline,
        ratios=selection.ratios or SPEED_UP,
        budget_s=selection.budget_s,
        strict=selection.strict,
        memory_cap_bytes=selection.memory_cap_bytes,
        registry=study.registry,
        remarks=axes.remarks,
    )


def _baseline(cells: Sequence[Cell], wanted: str) -> str:
    """Return the baseline: the wanted one where it is measured or chosen later, otherwise the first column."""
    if wanted in CHOSEN:
        return wanted
    columns = list(dict.fromkeys(cell.column for cell in cells))
    return wanted if wanted in columns or not columns else columns[0]


class _Axes:
    """The axes of the chosen product, and the errors of the patterns that match nothing."""

    def __init__(self, study: Study, selection: Selection) -> None:
        self.errors: list[str] = []
        self._registry = study.registry
        environments = study.environments.values()
        specifications = [study.registry.specification(name) for name in study.workloads]
        names = self._match(
            "environment", study.named(selection.environments or study.settings.default), study.environments
        )
        self._environments = [study.environments[name] for name in names]
        listed = [mode for env in environments for mode in env.modes]
        unlisted = unlisted_modes.elsewhere([*self._environments, *environments], study.registry)
        self._modes = self._match("mode", selection.modes, listed, unlisted)
        self.remarks = unlisted_modes.remarks(selection.modes, self._environments, study.registry)
        chosen = self._match("workload", selection.workloads, study.workloads, unlisted_workloads.remedies(study))
        chosen = chosen or tuple(study.workloads)
        self._workloads = [study.workloads[name] for name in chosen]
        sizes = [size for name in study.workloads for size in sizes_of(study.registry, name)]
        self.sizes = self._match("size", selection.sizes, sizes)
        specified = [precision for specification in specifications for precision in specification.PRECISIONS]
        # The name of a precision that no workload has gives cells with a reason; a pattern does not match it.
        named = [precision for precision in selection.precisions if precision in PRECISIONS]
        self._precisions = self._match("precision", selection.precisions, [*specified, *named])
        self._devices = self._match("device", selection.devices, DEVICES) or study.settings.devices
        self._chosen_threads = selection.threads
        self._threads = study.settings.threads

    def product(self, profile: Profile) -> Iterator[Cell]:
        """Give every cell of the product, in the study's order: by row, then by column."""
        for workload in self._workloads:
            sizes = self.sizes or profile.sizes_of.get(workload.name, profile.sizes)
            counts = _thread_counts(self._chosen_threads or workload.threads or self._threads)
            for size, precision, device, threads in itertools.product(
                sizes, self._precisions or workload.precisions, self._devices, counts
            ):
                for environment, mode in self._columns():
                    yield Cell(
                        environment=environment.name,
                        framework=environment.framework,
                        mode=mode,
                        workload=workload.name,
                        size=size,
                        precision=precision,
                        device=device,
                        threads=threads,
                        threads_named=len(counts) > 1,
                        devices=self._registry.facts(environment.framework).mode(mode).devices,
                    )

    def _columns(self) -> Iterator[tuple[Environment, str]]:
        for environment in self._environments:
            for mode in environment.modes:
                if not self._modes or mode in self._modes:
                    yield environment, mode

    def _match(
        self, coordinate: str, patterns: Sequence[str], known: Iterable[str], others: Mapping[str, str] | None = None
    ) -> tuple[str, ...]:
        """List the known names, each once and in their order, that match any of the patterns.

        ``others`` are names that could become known, each with what to do.
        """
        names = tuple(dict.fromkeys(known))
        for pattern in patterns:
            if not fnmatch.filter(names, pattern):
                remedy = (others or {}).get(pattern) or unknown(coordinate, pattern, names)
                self.errors.append(f"--{coordinate}: {remedy}")
        return tuple(name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns))


def _thread_counts(threads: Threads) -> tuple[int, ...]:
    """Return the numbers of threads, each once: on one core, ``all`` is 1."""
    several = threads if isinstance(threads, tuple) else (threads,)
    return tuple(dict.fromkeys(physical_cores() if count == "all" else count for count in several))


def reason_against(cell: Cell, study: Study, *, chosen: bool) -> str | None:
    """Say why a cell is not measured; None when it is. ``chosen`` sizes go before those that the study declares."""
    specification = study.registry.specification(cell.workload)
    choice = study.workloads[cell.workload]
    offered = tuple(specification.SIZES) if chosen or choice.sizes is None else choice.sizes
    if cell.size not in specification.SIZES:
        return f"{cell.workload} has no size {cell.size!r}"
    if cell.size not in offered:
        return f"the study takes {cell.workload} at {', '.join(offered)} only"
    if cell.precision not in specification.PRECISIONS:
        return f"{cell.workload} is not specified for {cell.precision}"
    if not study.registry.has_implementation(cell.workload, cell.framework):
        return f"workload {cell.workload} has no {cell.framework} implementation"
    missing = families.missing_mode(study.environments[cell.environment], cell.mode, study.registry)
    if missing is not None:
        return missing
    for exclusion in study.exclusions:
        if exclusion.training in (None, bool(specification.TRAINING)) and _matches(exclusion, cell):
            return exclusion.reason
    return None


def _matches(exclusion: Exclusion, cell: Cell) -> bool:
    patterns = {coordinate: getattr(exclusion, coordinate) for coordinate in COORDINATES}
    return all(pattern is None or fits(getattr(cell, coordinate), pattern) for coordinate, pattern in patterns.items())
