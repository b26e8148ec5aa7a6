"""Holds the words of the page. Its scripts put numbers and names where braces are, such as ``{count}``.

Those that name comparisons, by speed-ups or by time ratios, are in ``page_comparisons``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...analysis.quality import Quality
from ...statistics.bootstrap import LEVEL
from ...statistics.verdict import ALPHA, THRESHOLD, Verdict, minimum_pairs
from .language import _
from .numbers import format_number, percent
from .page_comparisons import of_comparisons
from .quality import meaning, noisy_rule


def of_page(*, as_ratios: bool = False) -> dict[str, str]:
    """Return the words of the scripts, by the names that they use; ``as_ratios`` those of time ratios."""
    return {
        **_choice(),
        **_chart(),
        **_figures(),
        **_table(),
        **_details(),
        **_about(),
        **of_comparisons(as_ratios=as_ratios),
    }


def _choice() -> dict[str, str]:
    return {
        "choose": _("Choose what to compare"),
        "workload": _("workload"),
        "size": _("size"),
        "precision": _("precision"),
        "device": _("device"),
        "threads": _("threads"),
        "framework": _("framework"),
        "version": _("version"),
        "mode": _("mode"),
        "baseline": _("baseline"),
        "show": _("show"),
        "times": _("times"),
        "filter": _("filter"),
        "filterHint": _("part of a name"),
        "reset": _("reset"),
        "first": _("the study's"),
        "moreValues": _("{count} more", count="{count}"),
    }


def _chart() -> dict[str, str]:
    return {
        "mean": _("geometric mean"),
        "meanRows": _("over {count} complete rows", count="{count}"),
        "moreRows": _("The first {shown} of {count} rows. Choose others above.", shown="{shown}", count="{count}"),
        "allRows": _("Show all"),
        "nothing": _("Nothing to show. Choose more above."),
        "noTime": _("Every time was withheld: other programs were computing."),
    }


def _figures() -> dict[str, str]:
    return {
        "figures": _("Further figures"),
        "noFigure": _("Nothing to draw for this choice."),
        "breakEvenFigure": _("start-up and break-even"),
        "breakEvenHint": _(
            "Time of a first call with an empty cache and so many steps. Where two lines cross, faster steps have made "
            "up for a slower start."
        ),
        "steps": _("steps after the first call"),
        "distributionsFigure": _("distributions"),
        "distributionsHint": _("Every dot is a sample; a line marks the median."),
        "scalingFigure": _("scaling with size"),
        "scalingHint": _("Time per step at each size."),
        "memoryFigure": _("memory"),
        "memoryHint": _("Peak memory of the steps."),
        "profileFigure": _("performance profile"),
        "profileHint": _("Share of the rows in which a column takes at most so many times as long as the fastest."),
        "timesTheFastest": _("time over that of the fastest"),
        "rooflineFigure": _("roofline"),
        "rooflineHint": _(
            "Operations per second, over the operations per byte that a step must move. The line is the best that was "
            "measured on this machine, with data in its main memory."
        ),
        "flopsPerByte": _("operations per byte"),
    }


def _table() -> dict[str, str]:
    return {
        "table": _("All results"),
        "timesHint": _("Median time per step. Select an entry for its details."),
        "sort": _("sort by {column}", column="{column}"),
        "row": _("workload"),
        "more": _("Show more rows ({count} left)", count="{count}"),
        "rows": _("{shown} of {count} rows", shown="{shown}", count="{count}"),
        "faster": _("faster"),
        "slower": _("slower"),
        "legend": _("Marks"),
        "excluded": _("the study leaves this cell out; select it for the reason"),
        "settingsDiffer": _("settings that may matter differ: {settings}", settings="{settings}"),
    }


def _details() -> dict[str, str]:
    return {
        "close": _("close"),
        "time": _("time per step"),
        "latency": _("latency of a step"),
        "latencyText": _("median {half}, 99% quantile {tail}", half="{half}", tail="{tail}"),
        "throughput": _("throughput"),
        "cpu": _("CPU time per step"),
        "cpuText": _("{time}, {processors} processors busy", time="{time}", processors="{processors}"),
        "verdict": _("verdict"),
        "quality": _("quality"),
        "status": _("status"),
        "stage": _("stage"),
        "reason": _("reason"),
        "log": _("End of the log"),
        "processes": _("processes and samples"),
        "processesText": _("{processes} processes, {samples} samples", processes="{processes}", samples="{samples}"),
        "warmUp": _("warm-up"),
        "firstCold": _("first call, empty cache"),
        "firstWarm": _("first call, filled cache"),
        "import": _("import"),
        "peak": _("peak memory"),
        "notes": _("Notes"),
        "samples": _("Samples in the order measured"),
        "samplesHint": _(
            "One shade per process; the line is the median. {shown} of {count} processes.",
            shown="{shown}",
            count="{count}",
        ),
        "settings": _("Settings"),
        "versions": _("Versions"),
        "repeat": _("Measure it again"),
        "copy": _("copy"),
        "copied": _("copied"),
    }


def _about() -> dict[str, str]:
    return {
        "machine": _("Machine"),
        "environments": _("Environments"),
        "environment": _("environment"),
        "requirements": _("requirements"),
        "lock": _("hash of the lock"),
        "packages": _("{count} packages", count="{count}"),
        "method": _("Method"),
        "data": _("Data"),
        "download": _("Download this table as CSV"),
        "withheld": _("withheld: other programs were computing"),
        "run": _(
            "run {name}, profile {profile}, started {started}", name="{name}", profile="{profile}", started="{started}"
        ),
    }


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
            "A verdict needs {pairs} pairs. Its p values are adjusted for all comparisons of the table.",
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
