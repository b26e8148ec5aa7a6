"""Finds what is worth saying about a whole run: that it is unfinished, has no baseline, or has no known noise floor."""

from __future__ import annotations

from collections.abc import Sequence

from ..statistics.verdict import minimum_pairs
from ..storage.manifest import Manifest
from ..study.baseline import CHOSEN
from .notes import Note, NoteKind, Severity, note
from .results import Result
from .run_analysis import Analysis
from .startup import import_s

#: Damaged lines that are named at most.
NAMED_LINES = 5


def unfinished(manifest: Manifest) -> Note | None:
    return None if manifest.finished else note(NoteKind.RUN_UNFINISHED, Severity.CAUTION)


def part_of_run(manifest: Manifest) -> Note | None:
    hidden = manifest.hidden_cells
    return note(NoteKind.PART_OF_RUN, Severity.INFO, count=hidden) if hidden else None


def journal_damaged(manifest: Manifest) -> Note | None:
    """Note how many lines of the journal could not be read, and where the first of them are."""
    if not manifest.damaged:
        return None
    places = tuple(line.split(": ")[0] for line in manifest.damaged[:NAMED_LINES])
    return note(NoteKind.JOURNAL_DAMAGED, Severity.CAUTION, count=len(manifest.damaged), places=places)


def not_bound(manifest: Manifest) -> Note | None:
    """Note that the system neither bound processes to processors nor counted how long they waited for one."""
    system = str(manifest.machine.get("system", ""))
    if not system or system.startswith("Linux"):
        return None
    return note(NoteKind.NOT_BOUND, Severity.CAUTION, system=system)


def baseline_not_in_run(results: Sequence[Result], manifest: Manifest) -> Note | None:
    """Note that there are no ratios because the baseline is not among the cells."""
    baseline = manifest.study.baseline
    if baseline is None or baseline in CHOSEN or any(result.cell.column == baseline for result in results):
        return None
    return note(NoteKind.RUN_WITHOUT_BASELINE, Severity.CAUTION, baseline=baseline)


def code_noted(manifest: Manifest) -> tuple[Note, ...]:
    """Note what changed while it was measured, environments and sources, and packages that were built from source."""
    built = tuple(sorted(name for name, each in manifest.environments.items() if each.get("built_from_source")))
    changed = [
        note(NoteKind.ENVIRONMENT_CHANGED, Severity.UNUSABLE, environment=name, files=files)
        for name, files in sorted(manifest.changed_environments.items())
    ]
    if manifest.changed_sources:
        files = manifest.changed_sources
        named = files[:NAMED_LINES]
        changed.append(note(NoteKind.SOURCES_CHANGED, Severity.UNUSABLE, files=named, count=len(files)))
    if built:
        changed.append(note(NoteKind.BUILT_FROM_SOURCE, Severity.CAUTION, environments=built))
    return tuple(changed)


def strict(manifest: Manifest) -> Note | None:
    return note(NoteKind.RUN_STRICT, Severity.INFO) if manifest.strict else None


def cache_kept(results: Sequence[Result], manifest: Manifest) -> Note | None:
    """Note that a cold first call may not have been cold, where compiled code stays between runs."""
    if manifest.profile.compile_cache != "kept" or all(result.first_call_s("cold") is None for result in results):
        return None
    return note(NoteKind.CACHE_KEPT, Severity.CAUTION)


def imports_shared(results: Sequence[Result]) -> Note | None:
    """Note that imports whose seconds are given did not have the processors for themselves."""
    if all(import_s(result) == result.import_s(alone=True) for result in results):
        return None
    return note(NoteKind.IMPORTS_SHARED, Severity.INFO)


def noise_unknown(analysis: Analysis, manifest: Manifest) -> Note | None:
    """Note why the noise floor is not known, where there are ratios or a twin."""
    noise = analysis.noise
    if noise.column is None and any(result.comparison is not None for result in analysis.results):
        return note(NoteKind.NO_TWIN, Severity.CAUTION, profile=manifest.profile.name)
    if noise.column is None or noise.floor is not None:
        return None
    return note(
        NoteKind.TWIN_TOO_SHORT, Severity.CAUTION, column=noise.column, pairs=noise.most_pairs, needed=minimum_pairs()
    )
