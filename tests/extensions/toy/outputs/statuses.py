"""Writes ``statuses.txt``: one line per cell, with what it came to."""

from __future__ import annotations

NAME = "statuses.txt"


def write(report, folder):
    path = folder / NAME
    path.write_text("".join(f"{result.cell.name}: {result.status}\n" for result in report.analysis.results))
    return [path]
