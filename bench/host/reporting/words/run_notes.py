"""Writes the notes on a run. The arguments are the values of the notes."""

from __future__ import annotations

from collections.abc import Sequence

from .language import _, ngettext


def run_unfinished() -> str:
    return _("Partial: the run has not finished.")


def part_of_run(count: int) -> str:
    return ngettext(
        "A part of a run: {count} cell of it is not shown.",
        "A part of a run: {count} cells of it are not shown.",
        count,
    )


def journal_damaged(count: int, places: tuple[str, ...]) -> str:
    listed = ", ".join(places) + (", …" if count > len(places) else "")
    return ngettext(
        "{count} line of the journal is damaged and was left out ({places}).",
        "{count} lines of the journal are damaged and were left out ({places}).",
        count,
        places=listed,
    )


def run_without_baseline(baseline: str) -> str:
    return _("No ratios: the baseline {baseline} is not part of this run.", baseline=baseline)


def environment_changed(environment: str, files: str) -> str:
    return _(
        "{environment} changed while it was measured ({files}); its results are not those of its lock.",
        environment=environment,
        files=files,
    )


def sources_changed(files: Sequence[str], count: int) -> str:
    return _(
        "Edited while the run went on ({files}): later rounds measured other programs than earlier ones.",
        files=", ".join(files) + (", …" if count > len(files) else ""),
    )


def built_from_source(environments: Sequence[str]) -> str:
    return _(
        "Built from source (allow_source), so that another machine may build other code: {environments}.",
        environments=", ".join(environments),
    )


def not_bound(system: str) -> str:
    return _(
        "{system} does not bind processes to processors or count how long they wait for one: times are less certain.",
        system=system,
    )


def run_strict() -> str:
    return _("--strict: a cell gets no ratio where a user could have made its settings equal to the baseline's.")


def cache_kept() -> str:
    return _(
        "First calls: the cells of an environment share compiled code, which stays between runs. A cold first call may "
        "have used code (headers, kernels) that another cell compiled. Profile standard measures first calls with "
        "empty caches."
    )


def imports_shared() -> str:
    return _("Imports: the processes of a row import at the same time, which takes longer than one import alone.")


def no_twin(profile: str) -> str:
    return _("Noise floor: not measured; the run has no A/A twin (profile {profile}).", profile=profile)


def twin_too_short(column: str, pairs: int, needed: int) -> str:
    return ngettext(
        "Noise floor: not known; the A/A twin of {column} gives {count} pair per row, and {needed} are needed.",
        "Noise floor: not known; the A/A twin of {column} gives {count} pairs per row, and {needed} are needed.",
        pairs,
        column=column,
        needed=needed,
    )
