"""Scales the axes of figures: logarithmic, with few ticks that are easy to read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from matplotlib.axes import Axes

from ..words.numbers import TIMES, choose_unit, general

#: From the least to the greatest value; beyond, there is room for powers of ten only.
MOST_STEPPED = 500
#: A logarithmic axis that is shorter is nearly even.
SHORT = 1.5
WIDE, NARROW = (1.0, 2.0, 5.0), (1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
#: More ticks than these touch each other in a narrow axis.
MOST_TICKS = 7


def scale(
    axes: Axes,
    values: Iterable[float],
    *,
    of: Literal["x", "y"] = "x",
    write: Callable[[float], str] = general,
    most: int = MOST_TICKS,
    letters: float = math.inf,
) -> None:
    """Let an axis reach from the least to the greatest value; ``write`` names its ticks, about ``most`` at most.

    Ticks whose names would touch the one before are left out, where so many ``letters`` are as long as the axis.
    """
    known = [value for value in values if value > 0 and math.isfinite(value)]
    low, high = min(known), max(known)
    room = max(1.08, (high / low) ** 0.04)
    low, high = low / room, high * room
    places = thin(ticks(low, high, most), low, high, write, letters)
    axis = axes.xaxis if of == "x" else axes.yaxis
    (axes.set_xscale if of == "x" else axes.set_yscale)("log")
    (axes.set_xlim if of == "x" else axes.set_ylim)(low, high)
    axis.set_ticks(places, [write(place) for place in places])
    axes.minorticks_off()
    axes.grid(axis=of, color="0.85", linewidth=0.4, zorder=0.5)


def ticks(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Choose values between two others, evenly on a logarithmic axis, about ``most`` at most."""
    powers = _stepped(low, high, (1.0,))
    if len(powers) > most:
        every = math.ceil(len(powers) / most)
        return [tick for tick in powers if round(math.log10(tick)) % every == 0]
    stepped = [_stepped(low, high, steps) for steps in (NARROW, WIDE, (1.0, 3.0))]
    even = _even(low, high, most)
    ratio = high / low
    candidates = [powers] if ratio > MOST_STEPPED else [even] if ratio < SHORT else [*stepped, powers, even]
    return next((found for found in candidates if 2 <= len(found) <= most), even)


def thin(
    places: Iterable[float], low: float, high: float, write: Callable[[float], str], letters: float
) -> list[float]:
    """Leave out places whose names would touch the one before, on a logarithmic axis as long as so many letters."""
    kept: list[float] = []
    for place in places:
        room = letters * math.log(place / kept[-1]) / math.log(high / low) if kept else math.inf
        if room >= 1 + (len(write(place)) + len(write(kept[-1] if kept else place))) / 2:
            kept.append(place)
    return kept


def _stepped(low: float, high: float, steps: Sequence[float]) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # Powers of negative numbers are not exact.
    values = [float(f"{step}e{decade}") for decade in decades for step in steps]
    return [value for value in values if low <= value <= high]


def _even(low: float, high: float, most: int) -> list[float]:
    """Step evenly, by 1, 2 or 5 times a power of ten; there may be one tick more than ``most``."""
    decade = math.floor(math.log10((high - low) / most))
    steps = [float(f"{one}e{decade}") for one in (1, 2, 5, 10)]
    tried = ([round(n * step, 12 - decade) for n in _between(low / step, high / step)] for step in steps)
    return next((found for found in tried if len(found) <= most + 1), [])


def _between(low: float, high: float) -> range:
    return range(math.ceil(low), math.floor(high) + 1)


def write_time(seconds: float) -> str:
    """Name a tick of an axis of times: ``20 µs``."""
    unit = choose_unit([seconds], TIMES)
    return f"{general(float(f'{seconds / unit.size:.6g}'))} {unit.name}"


def write_power(value: float) -> str:
    """Name a tick of a long axis: ``5``, ``1000``, ``10⁶``."""
    exponent = round(math.log10(value))
    if value < 10_000 or not math.isclose(value, 10.0**exponent):
        return general(value)
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))
