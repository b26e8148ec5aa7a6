"""Holds the words of the page. Its scripts put numbers and names where braces are, such as ``{count}``.

Those that name comparisons, by speed-ups or by time ratios, are in ``page_comparisons``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...analysis.quality import Quality
from ...statistics.bootstrap import LEVEL
from ...statistics.verdict import ALPHA, THRESHOLD, Verdict, minimum_pairs
from .language import _, translated, word
from .numbers import format_number, percent
from .page_comparisons import of_comparisons
from .quality import meaning, noisy_rule

CHOICE = {
    "choose": word("Choose what to compare"),
    "workload": word("workload"),
    "size": word("size"),
    "precision": word("precision"),
    "device": word("device"),
    "threads": word("threads"),
    "framework": word("framework"),
    "version": word("version"),
    "mode": word("mode"),
    "baseline": word("baseline"),
    "show": word("show"),
    "times": word("times"),
    "filter": word("filter"),
    "filterHint": word("part of a name"),
    "reset": word("reset"),
    "first": word("the report's"),
    "moreValues": word("{count} more"),
}
CHART = {
    "mean": word("geometric mean"),
    "meanRows": word("over {count} complete rows"),
    "moreRows": word("The first {shown} of {count} rows. Choose others above."),
    "allRows": word("Show all"),
    "nothing": word("Nothing to show. Choose more above."),
    "noTime": word("Every time was withheld: other programs were computing."),
}
FIGURES = {
    "figures": word("Further figures"),
    "noFigure": word("Nothing to draw for this choice."),
    "breakEvenFigure": word("start-up and break-even"),
    "breakEvenHint": word(
        "Time of a first call with an empty cache and so many steps. Where two lines cross, faster steps have made "
        "up for a slower start."
    ),
    "steps": word("steps after the first call"),
    "distributionsFigure": word("distributions"),
    "distributionsHint": word("Every dot is a sample; a line marks the median."),
    "scalingFigure": word("scaling with size"),
    "scalingHint": word("Time per step at each size."),
    "memoryFigure": word("memory"),
    "memoryHint": word("Peak memory of the steps."),
    "profileFigure": word("performance profile"),
    "profileHint": word(
        "Share of the rows in which a column takes at most so many times as long as the fastest of all columns. A "
        "column in too few rows has no line."
    ),
    "profileRows": word("{count} rows"),
    "timesTheFastest": word("time over that of the fastest"),
    "rooflineFigure": word("roofline"),
    "rooflineHint": word(
        "Operations per second, over the operations per byte that a step must move. The lines are the best that was "
        "measured on this machine: solid with data in its fastest cache, dashed in its main memory."
    ),
    "flopsPerByte": word("operations per byte"),
}
TABLE = {
    "table": word("All results"),
    "timesHint": word("Median time per step. Select an entry for its details."),
    "sort": word("sort by {column}"),
    "row": word("workload"),
    "more": word("Show more rows ({count} left)"),
    "rows": word("{shown} of {count} rows"),
    "faster": word("faster"),
    "slower": word("slower"),
    "legend": word("Marks"),
    "excluded": word("the study leaves this cell out; select it for the reason"),
    "settingsDiffer": word("settings that may matter differ: {settings}"),
}
DETAILS = {
    "close": word("close"),
    "time": word("time per step"),
    "latency": word("latency of a step"),
    "latencyText": word("median {half}, 99% quantile {tail}"),
    "throughput": word("throughput"),
    "cpu": word("CPU time per step"),
    "cpuText": word("{time}, {processors} processors busy"),
    "verdict": word("verdict"),
    "quality": word("quality"),
    "status": word("status"),
    "stage": word("stage"),
    "reason": word("reason"),
    "log": word("End of the log"),
    "processes": word("processes and samples"),
    "processesText": word("{processes} processes, {samples} samples"),
    "warmUp": word("warm-up"),
    "firstCold": word("first call, empty cache"),
    "firstWarm": word("first call, filled cache"),
    "import": word("import"),
    "peak": word("peak memory"),
    "notes": word("Notes"),
    "samples": word("Samples in the order measured"),
    "samplesHint": word("One shade per process; the line is the median. {shown} of {count} processes."),
    "settings": word("Settings"),
    "versions": word("Versions"),
    "repeat": word("Measure it again"),
    "copy": word("copy"),
    "copied": word("copied"),
}
ABOUT = {
    "machine": word("Machine"),
    "environments": word("Environments"),
    "environment": word("environment"),
    "requirements": word("requirements"),
    "lock": word("hash of the lock"),
    "packages": word("{count} packages"),
    "method": word("Method"),
    "data": word("Data"),
    "download": word("Download this table as CSV"),
    "withheld": word("withheld: other programs were computing"),
    "run": word("run {name}, profile {profile}, started {started} UTC"),
}


def of_page(*, as_ratios: bool) -> dict[str, str]:
    """Return the words of the scripts, by the names that they use; ``as_ratios`` those of time ratios."""
    tables = (CHOICE, CHART, FIGURES, TABLE, DETAILS, ABOUT, of_comparisons(as_ratios=as_ratios))
    return {name: translated(text) for table in tables for name, text in table.items()}


def grades() -> dict[str, str]:
    """Say what each grade of a number means."""
    return {grade.value: meaning(grade) for grade in Quality}


def verdicts() -> dict[str, str]:
    """Say what each verdict means."""
    return {
        Verdict.DIFFERENT.value: _("different, certain at {level}", level=percent(ALPHA)),
        Verdict.EQUIVALENT.value: _("equal within {margin}", margin=percent(THRESHOLD)),
        Verdict.INCONCLUSIVE.value: _("inconclusive: the data do not decide"),
    }


def method() -> list[str]:
    """Describe the method in ten lines."""
    return [
        _("Every cell is measured in fresh processes, one per round. The process is the statistical unit."),
        _("In a round, the cells of a row take turns, so that slow changes of the machine reach all of them."),
        _("Every output is checked against a reference in float64 before it is timed."),
        _("A sample is the wall time of many steps, synchronised at its end and divided by their number."),
        _("Samples before the steady state, and turns disturbed by other programs, do not count."),
        _("The time per step is the median over processes of the median of their samples."),
        _(
            "Intervals are at {level}, over processes or pairs of them: bootstrap, or Student's where these are few.",
            level=percent(LEVEL),
        ),
        noisy_rule(),
        _("A ratio is the Hodges-Lehmann estimate over pairs of processes that took turns; a speed-up is its inverse."),
        _(
            "A verdict needs {pairs} pairs. Its p values are adjusted for all comparisons together.",
            pairs=minimum_pairs(),
        ),
        _(
            "Different: by a test at {level}. Equal: within {margin}. Anything else is inconclusive.",
            level=percent(ALPHA),
            margin=percent(THRESHOLD),
        ),
    ]


def machine(facts: Mapping[str, Any]) -> dict[str, str]:
    """Name what is known of the machine; facts without a name of their own keep the one that they are stored under."""
    memory = facts.get("memory_bytes")
    known = {
        "processor": (_("processor"), facts.get("processor")),
        "processors": (_("processors"), facts.get("processors")),
        "memory_bytes": (_("memory"), f"{format_number(memory / 2**30)} GiB" if isinstance(memory, int) else memory),
        "gpus": (_("GPUs"), ", ".join(str(gpu.get("name")) for gpu in facts.get("gpus") or ())),
        "system": (_("system"), facts.get("system")),
        "architecture": (_("architecture"), facts.get("architecture")),
    }
    others = {name: (name.replace("_", " "), value) for name, value in facts.items() if name not in known}
    return {name: str(value) for name, value in (known | others).values() if value not in (None, "", [], {})}
