"""Shows a plan before anything is measured: the cells, what is left out and why, and a rough time."""

from __future__ import annotations

from collections.abc import Iterable

from bench.cell import Cell

from ..analysis.plan_time import compiling_s, estimate_s, repeats
from ..machine import facts, processors
from ..storage.manifest import Manifest
from ..study.plan import Plan
from ..study.schema import Profile
from ..study.twin import SUFFIX, is_twin
from .plan_grid import plan_grid
from .words.language import _, ngettext
from .words.numbers import duration, general
from .words.row_names import threads_in_words


def preview(plan: Plan, before: Manifest | None = None, width: int | None = None) -> str:
    """Describe a plan for people: its table with what would run, the reasons, the sampling and a rough time.

    ``before`` describes the run whose place a run of the plan would take; ``width`` is that of the screen.
    """
    reasons = list(dict.fromkeys(reason for _cell, reason in plan.excluded))
    marks: dict[Cell, int | None] = dict.fromkeys(plan.cells)
    marks |= {cell: reasons.index(reason) + 1 for cell, reason in plan.excluded}
    if not marks:
        return "\n".join([_("Nothing to measure: no chosen environment has the chosen modes."), *plan.remarks])
    lines = [
        plan_grid(marks, width),
        "",
        *(f"[{number}] {reason}" for number, reason in enumerate(reasons, 1)),
        *([""] if reasons else []),
        _extent(plan, len({cell.row for cell in marks}), len({cell.column for cell in marks})),
        *_twin(marks),
        *warnings(plan),
        _sampling(plan.profile),
        *([_about(plan, before)] if plan.cells else []),
    ]
    return "\n".join(lines)


def _about(plan: Plan, before: Manifest | None) -> str:
    """Say how long the plan takes, and how that is known."""
    if before is not None and repeats(plan, before):
        return _(
            "About {time}: the last run of these cells took that long.",
            time=duration(estimate_s(plan, before)),
        )
    whole_s = estimate_s(plan)
    if plan.budget_s is not None and plan.budget_s < whole_s:
        return _(
            "At most {budget}, environments not included; the whole plan takes about {time}.",
            budget=duration(plan.budget_s),
            time=duration(whole_s),
        )
    told = [_("About {time}, environments not included.", time=duration(whole_s))]
    extra_s = compiling_s(plan)
    if extra_s >= 1 and plan.profile.compile_cache == "kept":
        told.append(_("A repetition saves {time} of compiling.", time=duration(extra_s)))
    return " ".join([*told, _("Slow machines and large models take longer.")])


def _extent(plan: Plan, rows: int, columns: int) -> str:
    return _(
        "{cells} in {rows} and {columns}, {excluded} left out; {threads}.",
        cells=ngettext("{count} cell", "{count} cells", len(plan.cells)),
        rows=ngettext("{count} row", "{count} rows", rows),
        columns=ngettext("{count} column", "{count} columns", columns),
        excluded=len(plan.excluded),
        threads=" · ".join(map(threads_in_words, _thread_counts(plan))),
    )


def _twin(cells: Iterable[Cell]) -> list[str]:
    """Say what the twin of a column is for."""
    if not any(map(is_twin, cells)):
        return []
    return [_("{twin}: the same cells once more; their differences are the noise of the run.", twin=SUFFIX)]


def _thread_counts(plan: Plan) -> list[int]:
    return sorted({cell.threads for cell in plan.cells}) or [plan.threads]


def warnings(plan: Plan) -> list[str]:
    """Say what this machine lacks for the plan: what a person should read before anything is built or measured."""
    return [*plan.remarks, *_crowding(plan), *_missing_gpu(plan)]


def _missing_gpu(plan: Plan) -> list[str]:
    """Warn where cells are to run on a GPU and there is none that a driver shows."""
    count = sum(cell.device == "gpu" for cell in plan.cells)
    if not count or facts.gpus():
        return []
    return [
        _(
            "This machine shows no NVIDIA GPU: {cells} for device gpu will be unsupported; --device cpu measures here.",
            cells=ngettext("{count} cell", "{count} cells", count),
        )
    ]


def _crowding(plan: Plan) -> list[str]:
    """Warn where there are more threads than processors."""
    most = _thread_counts(plan)[-1]
    bound = len(processors.chosen(most))
    if bound >= most:
        return []
    return [
        ngettext(
            "{threads} will share {count} processor; give --threads all for one thread per core.",
            "{threads} will share {count} processors; give --threads all for one thread per core.",
            bound,
            threads=threads_in_words(most),
        )
    ]


def _sampling(profile: Profile) -> str:
    samples = ngettext(
        "{count} sample of {seconds} s per cell and round",
        "{count} samples of {seconds} s per cell and round",
        profile.samples,
        seconds=general(profile.sample_seconds),
    )
    if profile.most_rounds is None or profile.most_rounds == profile.rounds:
        rounds = ngettext("{count} round of fresh processes", "{count} rounds of fresh processes", profile.rounds)
    else:
        rounds = _(
            "{fewest} to {most} rounds, until every verdict is settled, of fresh processes",
            fewest=profile.rounds,
            most=profile.most_rounds,
        )
    return _("Profile {name}: {rounds}, {samples}.", name=profile.name, rounds=rounds, samples=samples)
