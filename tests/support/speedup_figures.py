"""Draws the figure of speed-ups of a study, and reads what is in it."""

from __future__ import annotations

from dataclasses import replace

from bench.host.reporting import report
from bench.host.reporting.figures import speedups


def drawn(study):
    return speedups.draw(report.make(study.records, study.manifest))


def below(figure) -> str:
    """Return the notes of a figure."""
    return "\n".join(text.get_text() for text in figure.texts)


def points(figure) -> list:
    return [line for line in figure.axes[0].get_lines() if line.get_marker() not in ("None", "", None)]


def grown(study, sizes: int):
    """Give the study so many sizes of ``dispatch``, each a row with all columns."""
    of = [record for record in study.records if record.cell.workload == "dispatch"]
    study.records = [replace(r, cell=replace(r.cell, size=f"s{number}")) for number in range(sizes) for r in of]
    study.run["planned"] = []
    return study


def names_of(figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.get_yticklabels()]


def named_columns(figure) -> list[str]:
    return [
        text.get_text() for legend in figure.legends for text in legend.get_texts() if "hollow" not in text.get_text()
    ]
