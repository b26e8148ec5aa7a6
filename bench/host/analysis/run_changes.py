"""Says what is not the same in two runs: the machine, how they were measured, packages and settings."""

from __future__ import annotations

from collections.abc import Iterator

from ..storage.run_summary import CellSummary, RunSummary
from .fairness import Difference, unequal


def changes(before: RunSummary, after: RunSummary) -> Iterator[Difference]:
    """Yield what is not the same in two runs: the machine, how they were measured, packages and settings."""
    mine, theirs = before.facts, after.facts
    yield from _differences("machine: ", _machine(before), _machine(after))
    for name in ("study", "profile", "workers", "seed", "records_schema", "baseline"):
        yield from _differences("", {name: getattr(mine, name)}, {name: getattr(theirs, name)})
    for environment in mine.environments:
        if environment in theirs.environments:
            yield from _differences(
                f"{environment}: ", mine.environments[environment], theirs.environments[environment]
            )
    yield from _changed_programs(before, after)
    yield from _changed_settings(before, after)


def _changed_programs(before: RunSummary, after: RunSummary) -> Iterator[Difference]:
    """Yield the programs whose code changed: a workload with its environments, once for each pair of digests."""
    mine, theirs = before.facts.programs, after.facts.programs
    found: dict[tuple[str, str, str], list[str]] = {}
    for key in mine:
        if key in theirs and mine[key] != theirs[key]:
            environment, _, workload = key.partition("/")
            found.setdefault((workload, mine[key], theirs[key]), []).append(environment)
    for (workload, first, second), environments in found.items():
        yield f"code of {workload} in {', '.join(environments)}", first, second


def _differences(prefix: str, mine: object, theirs: object) -> Iterator[Difference]:
    assert isinstance(mine, dict)
    assert isinstance(theirs, dict)
    for name in {**mine, **theirs}:
        if mine.get(name) != theirs.get(name):
            yield f"{prefix}{name.replace('_', ' ')}", _shown(mine.get(name)), _shown(theirs.get(name))


def _shown(value: object) -> str:
    return "none" if value in (None, "") else str(value)


def _changed_settings(before: RunSummary, after: RunSummary) -> Iterator[Difference]:
    """Yield each setting that changed in a cell that both runs have, once for each pair of values."""
    second = {cell.key: cell for cell in after.cells}
    found: dict[Difference, dict[str, None]] = {}
    for cell in before.cells:
        if cell.key in second:
            own = before.facts.settings_of(cell)
            for difference in unequal(own, after.facts.settings_of(second[cell.key]), own):
                found.setdefault(difference, {})[cell.column] = None
    for (name, mine, theirs), columns in found.items():
        shown = ", ".join(list(columns)[:2]) + (f" and {len(columns) - 2} more" if len(columns) > 2 else "")
        yield f"{shown}: {name}", mine, theirs


def is_unchanged(before: RunSummary, after: RunSummary, first: CellSummary, second: CellSummary) -> bool:
    """Tell whether a cell is the same program on the same machine, as far as the files say."""
    packages = (run.facts.environments.get(first.environment) for run in (before, after))
    return (
        len({str(sorted(one.items())) if one else "" for one in packages}) == 1
        and _machine(before) == _machine(after)
        and before.facts.versions_of(first) == after.facts.versions_of(second)
        and before.facts.settings_of(first) == after.facts.settings_of(second)
        and not _is_another_program(before, after, first)
    )


def _is_another_program(before: RunSummary, after: RunSummary, cell: CellSummary) -> bool:
    """Tell whether the code of a cell is known to have changed; older runs do not say what theirs was."""
    mine, theirs = (run.facts.program_of(cell) for run in (before, after))
    return None not in (mine, theirs) and mine != theirs


def _machine(run: RunSummary) -> dict[str, object]:
    """Return the facts about the machine of a run.

    The memory is in tenths of a GiB, as a kernel keeps some kilobytes more or less each time that it starts.
    """
    machine: dict[str, object] = {**run.facts.machine}
    memory = machine.get("memory_bytes")
    if isinstance(memory, int):
        del machine["memory_bytes"]
        machine["memory"] = f"{memory / 2**30:.1f} GiB"
    return machine
