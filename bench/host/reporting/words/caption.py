"""Knows the words around a table: under which conditions it was measured, and what its columns mean."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.record import Record

from ...analysis.disturbances import count_doubtful, count_turns
from ...analysis.fairness import enumerate_names
from ...analysis.noise_watch import CROWD, crowded
from ...analysis.results import Result
from ...analysis.warmups import MEANINGS
from ...measuring.largest_batch import TOLERANCE
from ...storage.manifest import Manifest
from ..footnotes import versions
from ..tables.table import printable, sentence
from .numbers import MIB, count, format_number


def title_of(manifest: Manifest) -> str:
    """Return the title of the study on one line, without a full stop."""
    return printable(manifest.study.title or manifest.study.name).rstrip(".")


def machine_in_words(machine: Mapping[str, Any]) -> str:
    """Name the processor and the GPUs of a machine."""
    gpus = dict.fromkeys(str(gpu.get("name")) for gpu in machine.get("gpus") or ())
    return " with ".join(filter(None, (str(machine.get("processor") or ""), ", ".join(gpus))))


def describe_conditions(manifest: Manifest, results: Sequence[Result]) -> str:
    """Say how, where and when the table was measured."""
    records = [record for result in results for record in result.records]
    started = min((record.started_at for record in records if record.started_at), default=None)
    day = datetime.datetime.fromtimestamp(started, datetime.UTC).date().isoformat() if started else ""
    text = sentence(
        (
            f"Profile {manifest.profile.name}, {_rounds(records)} of fresh processes"
            + (f", seed {manifest.seed}" if manifest.seed is not None else ""),
            machine_in_words(manifest.machine),
            day,
        )
    )
    return text if manifest.finished else f"{text} Partial: the run has not finished."


def _rounds(records: Iterable[Record]) -> str:
    """Write the number of rounds, from the fewest to the most that a row has."""
    rows: dict[str, set[int]] = {}
    for record in records:
        rows.setdefault(record.cell.row, set()).add(record.round)
    numbers = [len(rounds) for rounds in rows.values()] or [0]
    fewest, most = min(numbers), max(numbers)
    return count(most, "round") if fewest == most else f"{fewest} to {most} rounds"


def baseline_remark(results: Iterable[Result], manifest: Manifest) -> str:
    """Say that there are no ratios because the baseline is not among the cells."""
    if manifest.study.baseline is None or any(result.cell.column == manifest.study.baseline for result in results):
        return ""
    return f"No ratios: the baseline {manifest.study.baseline} is not part of this run."


def strict_remark(manifest: Manifest) -> str:
    if not manifest.strict:
        return ""
    return (
        "--strict: cells that differ from the baseline's in a setting which a user could have made equal get no ratio."
    )


def cache_remark(results: Iterable[Result], manifest: Manifest) -> str:
    """Say that a cold first call may not have been cold, where compiled code stays between runs."""
    if manifest.profile.compile_cache != "kept" or all(result.first_call_s("cold") is None for result in results):
        return ""
    return (
        "First calls: the cells of an environment share compiled code that stays between runs, so that a cold first "
        "call may have found what another cell left (headers, kernels); profile standard measures it with empty caches."
    )


def import_remark(results: Iterable[Result]) -> str:
    """Say whether the imports had the processors for themselves."""
    shared = any(result.import_s(alone=False) is not None for result in results)
    return "Imports: those of a row share the processors, and take longer than alone." if shared else ""


def environment_remark(results: Iterable[Result]) -> str:
    text = versions(results)
    return f"Environments: {text}." if text else ""


def noise_watch_remark(results: Iterable[Result], manifest: Manifest) -> str:
    """Say how many turns were disturbed and what became of them, what may have been missed, and how fast clocks ran."""
    records = [record for result in results for record in result.records if record.sample_ns]
    said = []
    found = count_turns(records, manifest.profile.samples)
    if found.disturbed:
        fate = [f"{found.left_out} left out"]
        if found.kept:
            fate.append(f"{found.kept} kept, as too few turns of their process would have remained")
        said.append(
            f"{found.disturbed} of {found.turns} turns were disturbed: {', '.join(fate)}; "
            f"{found.repeated} {'was' if found.repeated == 1 else 'were'} taken to repeat them"
        )
    doubtful = count_doubtful(records)
    if doubtful:
        said.append(
            f"{doubtful} of {found.turns} turns count as undisturbed, as no more than half of the cells waited for a "
            "processor in them: for threads of their own, or for somebody else"
        )
    crowds = [record.other_load or 0.0 for record in records if crowded(record)]
    if crowds:
        said.append(
            f"beside {len(crowds)} of {len(records)} processes, of several threads, others computed with more than "
            f"{CROWD:g} processors, up to {max(crowds):.1f}"
        )
    unwatched = sum(not record.sample_wait_ns for record in records)
    if unwatched:
        said.append(f"none of {unwatched} of {len(records)} processes, whose kernel does not tell who waited")
    mhz = [value for record in records for value in record.frequency_mhz]
    if mhz:
        said.append(f"processors ran at {min(mhz):.0f} to {max(mhz):.0f} MHz")
    return f"Noise watch: {'; '.join(said)}." if said else ""


def warm_up_remark(results: Iterable[Result]) -> str:
    """Say what the classes in the table mean."""
    present = {kind for result in results if result.warm_up is not None for kind, _ in result.warm_up.kinds}
    if not present:
        return ""
    legend = "; ".join(meaning for kind, meaning in MEANINGS.items() if kind in present)
    return (
        "Warm-up: the course of step times in a process, from its first trial to its last sample, by change points, "
        f"and how many processes have it: {legend}."
    )


def largest_batch_remark(results: Iterable[Result]) -> str:
    """Say under which cap batches were fitted."""
    caps = {result.largest_batch["cap_bytes"] for result in results if result.largest_batch is not None}
    sizes = enumerate_names([f"{format_number(cap / MIB)} MiB" for cap in sorted(caps)]) if caps else ""
    return (
        f"Largest batch: the most items of one step that fit into {sizes}, to within {TOLERANCE:.0%}." if sizes else ""
    )
