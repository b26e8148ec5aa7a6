r"""Writes numbers as LaTeX commands, whose names hold letters only: ``\bmSpeedupMlpTrainJaxJit``.

A number has the digits of the paper's table, so that text and table agree. ``\bmExactSpeedupMlpTrainJaxJit`` has those
that its interval supports, and lies within the interval as it is written.

Where the tables show time ratios, each of these has a command, too: ``\bmRatioMlpTrainJaxJit``. A command that is
named a speed-up stays one, so a text that cites it stays true.

A number that must not be used has no command, so a text that cites it does not compile; a comment gives the reason.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from ...analysis.speed_ups import FEWEST_ROWS, ComparedCell
from ..tables.speedup_values import ComparedRow, SpeedUps, cell_digits, mean_name, time_digits, time_unit
from ..words.numbers import DEFAULT, format_factor, format_interval, format_number, format_value
from .latex_text import escape

#: Begins the name of a number with more digits than the table has.
EXACT = "Exact"
DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def letters(text: str) -> str:
    """Write a name with capital letters for its words and words for its digits: ``mlp-train2``, ``MlpTrainTwo``."""
    words = re.findall(r"[A-Za-z]+|[0-9]|[^\x00-\x7f]", text)
    return "".join(_word(word) for word in words)


def _word(word: str) -> str:
    if word.isdigit() and word.isascii():
        return DIGITS[int(word)]
    # Other alphabets have no letters that every LaTeX takes in a name: the number of the character stands for it.
    return word[0].upper() + word[1:] if word.isascii() else "U" + "".join(DIGITS[int(d)] for d in str(ord(word)))


def macros(found: SpeedUps) -> Iterator[tuple[str, str | None, str]]:
    """Yield the name of each command, its LaTeX text, and what it is of; no text where the number is withheld."""
    taken: set[str] = set()
    for row in found.rows:
        for column, cell in row.cells.items():
            for kind, text in _numbers(cell, found):
                yield (
                    _free(f"bm{kind}{_row_letters(row, cell)}{letters(column)}", taken),
                    text,
                    f"{row.name}, {column}",
                )
    for track in found.tracks:
        # The widest track has the plain name, which a text keeps when a study gets another track.
        own = "" if track is found.tracks[0] else letters(f"{track.device} {track.threads} threads")
        for column, mean in track.means.items():
            if column != found.baseline:
                for kind, text in _mean_numbers(mean, found):
                    name = _free(f"bm{kind}GeometricMean{own}{letters(column)}", taken)
                    yield name, text, f"{mean_name(found, track)}, {column}"
    if not found.tracks:
        for column in _means_withheld(found):
            for kind, _text in _mean_numbers(1.0, found):
                yield _free(f"bm{kind}GeometricMean{letters(column)}", taken), None, column


def _means_withheld(found: SpeedUps) -> list[str]:
    """Name the columns with enough speed-ups for a mean, were none of them withheld."""
    rows = {
        column: [row.cells[column] for row in found.rows if column in row.cells]
        for column in found.columns
        if column != found.baseline
    }
    would = {column: [cell for cell in own if cell.speed_up or cell.result.ratio] for column, own in rows.items()}
    return [column for column, own in would.items() if len(own) >= FEWEST_ROWS and any(cell.withheld for cell in own)]


def _row_letters(row: ComparedRow, cell: ComparedCell) -> str:
    # "2 threads" is in the language of the report; the names of commands are not.
    parts = row.name.split(", ")
    if len(parts) > 1 and parts[-1].startswith(f"{cell.result.cell.threads} "):
        parts[-1] = f"{cell.result.cell.threads} threads"
    return letters(" ".join(parts))


def _mean_numbers(mean: float, found: SpeedUps) -> Iterator[tuple[str, str]]:
    """Yield the kind of each number of a mean and its text."""
    for kind, shown in {"Speedup": mean, **({"Ratio": 1.0 / mean} if found.as_ratios else {})}.items():
        yield kind, escape(format_factor(shown))
        yield f"{EXACT}{kind}", escape(format_number(shown))


def _numbers(cell: ComparedCell, found: SpeedUps) -> Iterator[tuple[str, str | None]]:
    """Yield the kind of each number and its text, None where the number is withheld."""
    if cell.time is not None:
        unit = time_unit(cell.time.value)
        yield "Time", _with_unit(*time_digits(cell.time.value))
        yield f"{EXACT}Time", _with_unit(format_value(cell.time, unit.size, fewest=DEFAULT), unit.name)
    elif cell.withheld:
        yield "Time", None
        yield f"{EXACT}Time", None
    if cell.is_base:
        return
    kinds = [("Speedup", "Interval"), *([("Ratio", "RatioInterval")] if found.as_ratios else [])]
    for kind, of_interval in kinds:
        if cell.speed_up is not None:
            shown = found.shown_estimate(cell.speed_up) if kind == "Ratio" else cell.speed_up
            yield kind, escape(cell_digits(cell, shown.value))
            yield f"{EXACT}{kind}", escape(format_value(shown, fewest=DEFAULT))
            if interval := format_interval(shown, fewest=DEFAULT):
                yield of_interval, escape(interval)
        elif cell.withheld and cell.result.ratio is not None:
            yield kind, None
            yield f"{EXACT}{kind}", None
            if format_interval(cell.result.ratio.estimate):
                yield of_interval, None


def _with_unit(number: str, unit: str) -> str:
    return rf"{escape(number)}\,{escape(unit)}".replace(r"$\mu$", r"\ensuremath{\mu}")


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no other number has: names that differ in signs only are told apart by a count."""
    again = (f"{name}Again{letters(str(number))}" for number in range(2, len(taken) + 3))
    free = next(one for one in itertools.chain([name], again) if one not in taken)
    taken.add(free)
    return free


def _line(name: str, text: str | None, what: str) -> str:
    if text is None:
        return rf"% withheld: \{name} (other programs were computing)"
    return rf"\newcommand{{\{name}}}{{{text}}} % {escape(what)}"


def render(found: SpeedUps | None) -> str:
    """Write one command a line, and a comment for each that a number which is withheld would have."""
    lines = [
        r"% In a paper: \input{FILE} in the preamble, then \bmSpeedup... in the text, with the digits of the table.",
        r"% \bmExactSpeedup... has more digits: those of its interval, \bmInterval...",
    ]
    if found is not None:
        lines += [_line(*macro) for macro in macros(found)]
    return "\n".join(lines) + "\n"
