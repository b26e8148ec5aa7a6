"""Writes the text above a table: how it was measured, what its numbers hold, and what disturbed them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.record import Record

from ...analysis.disturbances import NoiseWatch, summarise_noise_watch
from ...analysis.noise_watch import CROWDED_PROCESSORS
from ...analysis.notes import Note
from ...analysis.results import Result
from ...analysis.run_notes import journal_damaged, part_of_run, unfinished
from ...analysis.versions import versions_of
from ...statistics.largest_fit import TOLERANCE
from ...storage.manifest import Manifest
from ...study.baseline import BEST, PREVIOUS
from .labels import Label, in_order, labels_of
from .language import _, ngettext
from .notes import in_words
from .numbers import MIB, fixed, format_number, general, percent
from .terms import enumerate_alternatives, enumerate_names, warm_up_meanings
from .text import printable, sentence


def title_of(manifest: Manifest) -> str:
    """Return the title of the study on one line, without a full stop."""
    return printable(manifest.study.title or manifest.study.name).rstrip(".")


def compared_of(results: Sequence[Result], manifest: Manifest) -> str:
    """Name what was measured, by framework and version: ``PyTorch 1.13, PyTorch 2.15 and JAX 0.10``.

    A title may name frameworks that are not there; the study's own name stands where nothing was measured.
    """
    labels = labels_of([result for result in results if result.records])
    names = [labels[column].release for column in in_order(list(labels), labels)]
    return printable(enumerate_names(list(dict.fromkeys(names)))) if names else printable(manifest.study.name)


def baseline_name(baseline: str, labels: Mapping[str, Label]) -> str:
    """Name what ratios are taken to: a column, by its label where it has one, or another baseline."""
    chosen = {BEST: _("the best of its row"), PREVIOUS: _("the version before, in the same mode")}
    if baseline in chosen:
        return chosen[baseline]
    return labels[baseline].text if baseline in labels else baseline


def machine_in_words(machine: Mapping[str, Any]) -> str:
    """Name the processor and the GPUs of a machine."""
    processor = str(machine.get("processor") or "")
    gpus = ", ".join(dict.fromkeys(str(gpu.get("name")) for gpu in machine.get("gpus") or ()))
    return _("{processor} with {gpus}", processor=processor, gpus=gpus) if processor and gpus else processor or gpus


def describe_conditions(manifest: Manifest, results: Sequence[Result]) -> str:
    """Say how, where and when the table was measured."""
    records = [record for result in results for record in result.records]
    started = min((record.started_at for record in records if record.started_at), default=None)
    day = datetime.datetime.fromtimestamp(started, datetime.UTC).date().isoformat() if started else ""
    how = [_("Profile {name}", name=manifest.profile.name), _rounds(records)]
    if manifest.seed is not None:
        how.append(_("seed {seed}", seed=manifest.seed))
    text = sentence((", ".join(how), machine_in_words(manifest.machine), day))
    found = (part_of_run(manifest), unfinished(manifest), journal_damaged(manifest))
    return " ".join(filter(None, (text, *map(remark_on, found))))


def _rounds(records: Iterable[Record]) -> str:
    """Write the number of rounds, from the fewest to the most that a row has."""
    rows: dict[str, set[int]] = {}
    for record in records:
        rows.setdefault(record.cell.row, set()).add(record.round)
    numbers = [len(rounds) for rounds in rows.values()] or [0]
    fewest, most = min(numbers), max(numbers)
    if fewest == most:
        return ngettext("{count} round of fresh processes", "{count} rounds of fresh processes", most)
    return _("{fewest} to {most} rounds of fresh processes", fewest=fewest, most=most)


def remark_on(note: Note | None) -> str:
    """Write a note on the run as a remark; nothing where there is none."""
    return in_words([note])[0] if note is not None else ""


def environment_remark(results: Sequence[Result]) -> str:
    """Say what options call each framework, and what computed in it: ``torch1: PyTorch 1.13 (torch 1.13.1, …)``."""
    labels, versions = labels_of(results), versions_of(results)
    texts = []
    for environment, label in {result.cell.environment: labels[result.cell.column] for result in results}.items():
        # A worker names the interpreter and NumPy, which every environment has, before its framework.
        packages = ", ".join(
            f"{name} {enumerate_alternatives(list(own))}"
            for name, own in reversed(versions.get(environment, {}).items())
        )
        texts.append(f"{environment}: {label.release}" + (f" ({packages})" if packages else ""))
    return _("Environments, as options name them: {versions}.", versions="; ".join(texts)) if texts else ""


def noise_watch_remark(results: Iterable[Result], manifest: Manifest) -> str:
    """Say how many turns were disturbed and what became of them, what may have been missed, and how fast clocks ran."""
    seen = summarise_noise_watch((r for result in results for r in result.records), manifest.profile.samples)
    clauses = [*_disturbed(seen), *_missed(seen), *_clocks(seen)]
    return _("Noise watch: {clauses}.", clauses="; ".join(clauses)) if clauses else ""


def _clocks(seen: NoiseWatch) -> list[str]:
    """Say how fast clocks ran, and what limited those of GPUs."""
    clauses = []
    if seen.mhz:
        lowest, highest = (fixed(mhz, 0) for mhz in seen.mhz)
        clauses.append(_("processors ran at {lowest} to {highest} MHz", lowest=lowest, highest=highest))
    if seen.gpu_mhz:
        lowest, highest = (fixed(mhz, 0) for mhz in seen.gpu_mhz)
        clauses.append(_("GPUs ran at {lowest} to {highest} MHz", lowest=lowest, highest=highest))
    for limit, count in seen.gpu_limits.items():
        numbers = {"limit": limit, "count": count, "samples": seen.gpu_samples}
        clauses.append(_("the clock of a GPU was limited in {count} of {samples} samples: {limit}", **numbers))
    return clauses


def _disturbed(seen: NoiseWatch) -> list[str]:
    found = seen.turns
    clauses = []
    if found.disturbed:
        fate = [ngettext("{count} is left out", "{count} are left out", found.left_out)]
        if found.kept:
            fate.append(
                ngettext(
                    "{count} is kept, because too few turns of its process would remain",
                    "{count} are kept, because too few turns of their processes would remain",
                    found.kept,
                )
            )
        numbers = {"disturbed": found.disturbed, "turns": found.turns, "fate": ", ".join(fate)}
        clauses.append(_("{disturbed} of {turns} turns were disturbed: {fate}", **numbers))
        clauses.append(
            ngettext("{count} turn was added to repeat them", "{count} turns were added to repeat them", found.repeated)
        )
    if seen.doubtful:
        clauses.append(
            _(
                "{doubtful} of {turns} turns may have been disturbed and count as undisturbed: at most half of the "
                "cells waited for a processor in them, for their own threads or for another program",
                doubtful=seen.doubtful,
                turns=found.turns,
            )
        )
    return clauses


def _missed(seen: NoiseWatch) -> list[str]:
    """Say beside which processes others computed, and which could not be watched."""
    clauses = []
    if seen.crowding:
        clauses.append(
            _(
                "during {crowded} of {processes} processes, which have several threads, other programs used more than "
                "{limit} processors (at most {most})",
                crowded=len(seen.crowding),
                processes=seen.processes,
                limit=general(CROWDED_PROCESSORS),
                most=fixed(max(seen.crowding), 1),
            )
        )
    if seen.unwatched:
        clauses.append(
            _(
                "{unwatched} of {processes} processes were not watched: the kernel does not say how long they waited",
                unwatched=seen.unwatched,
                processes=seen.processes,
            )
        )
    return clauses


def warm_up_remark(results: Iterable[Result]) -> str:
    """Say what the classes in the table mean."""
    present = {kind for result in results if result.warm_up is not None for kind, _number in result.warm_up.classes}
    if not present:
        return ""
    return _(
        "Warm-up: how the step times of a process change from its first trial to its last sample (by change points), "
        "and the number of processes. {classes}.",
        classes=warm_up_meanings(present),
    )


def largest_batch_remark(results: Iterable[Result]) -> str:
    """Say under which cap batches were fitted."""
    caps = {result.largest_batch["cap_bytes"] for result in results if result.largest_batch is not None}
    if not caps:
        return ""
    return _(
        "Largest batch: the most items of one step that fit into {sizes}, to within {tolerance}.",
        sizes=enumerate_names([f"{format_number(cap / MIB)} MiB" for cap in sorted(caps)]),
        tolerance=percent(TOLERANCE),
    )
