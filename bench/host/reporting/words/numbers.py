"""Writes numbers for people: the unit of a row, digits that follow the interval, the decimal sign of the language."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .language import decimal_sign
from .text import EMPTY

if TYPE_CHECKING:
    from ...statistics.bootstrap import Estimate

#: Digits of the value that are shown at least and at most.
FEWEST, MOST = 2, 4
#: Digits where no interval says how many are known.
DEFAULT = 3
#: An error that begins with less than this gets two digits (Particle Data Group, Review of Particle Physics, 5.3).
PRECISE = 3.55
MIB = 1024.0**2


@dataclass(frozen=True)
class Unit:
    name: str
    #: How many of the base unit (seconds, items per second) it is.
    size: float


TIMES = (Unit("s", 1.0), Unit("ms", 1e-3), Unit("µs", 1e-6), Unit("ns", 1e-9))
JOULES = (Unit("J", 1.0), Unit("mJ", 1e-3), Unit("µJ", 1e-6))
COUNTS = (Unit("10⁹", 1e9), Unit("10⁶", 1e6), Unit("10³", 1e3), Unit("", 1.0))


def choose_unit(values: Iterable[float], units: Sequence[Unit]) -> Unit:
    """Choose one unit, from large to small, for values that are to be compared: by their geometric mean."""
    logs = [math.log(value) for value in values if value > 0]
    if not logs:
        return Unit("", 1.0)
    mean = math.exp(math.fsum(logs) / len(logs))
    # The logarithm of a power of ten is not exact.
    return next((unit for unit in units if mean * (1.0 + 1e-9) >= unit.size), units[-1])


def decimals(value: float, half_width: float | None = None, fewest: int = FEWEST) -> int:
    """Return how many decimals to show: one or two digits of the interval's half width, or three of the value.

    Of a value with an interval, ``fewest`` digits are shown at least.
    """
    if value == 0 or not math.isfinite(value):
        return 0
    leading = math.floor(math.log10(abs(value)))
    if not half_width:
        return max(0, DEFAULT - 1 - leading)
    exponent = math.floor(math.log10(half_width))
    wanted = (1 if half_width < PRECISE * 10.0**exponent else 0) - exponent
    return max(0, min(max(wanted, fewest - 1 - leading), MOST - 1 - leading))


def two_digits(value: float) -> int:
    """Return how many decimals show two digits of a number: none where it has as many before the decimal sign."""
    if value == 0 or not math.isfinite(value):
        return 0
    # What is rounded to 10 or to 1.0 has a digit more before the decimal sign than the value.
    rounded = f"{value:.{FEWEST - 1}e}"
    return max(0, FEWEST - 1 - int(rounded.partition("e")[2]))


def localise(number: str) -> str:
    """Write a formatted number with the decimal sign of the language of the report."""
    sign = decimal_sign()
    return number if sign == "." else number.replace(".", sign)


def format_number(value: float | None) -> str:
    """Write a number whose precision is unknown, with three digits."""
    return EMPTY if value is None else fixed(value, decimals(value))


def format_factor(value: float, least: int = 0) -> str:
    """Write a number with two digits, or with all digits before the decimal sign; ``least`` decimals at least."""
    return fixed(value, max(least, two_digits(value)))


def fixed(value: float, digits: int) -> str:
    """Write a number with ``digits`` digits after the decimal sign."""
    return localise(f"{value:.{digits}f}")


def general(value: float) -> str:
    """Write a number with as many digits as it needs, six at most: ``0.25``, ``2``."""
    return localise(f"{value:g}")


def percent(share: float, digits: int = 0) -> str:
    """Write a share in percent: ``31%``."""
    return localise(f"{share:.{digits}%}")


def _decimals_of(estimate: Estimate, size: float, fewest: int) -> int:
    if estimate.low is None or estimate.high is None:
        return decimals(estimate.value / size)
    return decimals(estimate.value / size, (estimate.high - estimate.low) / 2.0 / size, fewest)


def format_value(estimate: Estimate | None, size: float = 1.0, *, fewest: int = FEWEST) -> str:
    """Write the value of an estimate in a unit of ``size``, to the digits that its interval supports.

    ``fewest`` digits are shown at least. The interval has as many decimals, so the value that is shown lies within it.
    """
    return EMPTY if estimate is None else fixed(estimate.value / size, _decimals_of(estimate, size, fewest))


def format_interval(estimate: Estimate | None, size: float = 1.0, *, fewest: int = FEWEST) -> str:
    """Write the interval of an estimate with the decimals of its value; nothing where there is none."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    digits = _decimals_of(estimate, size, fewest)
    # Where numbers have a comma of their own, another one between them would be misread.
    between = ";" if decimal_sign() == "," else ","
    return f"[{fixed(estimate.low / size, digits)}{between} {fixed(estimate.high / size, digits)}]"


def format_share(share: float) -> str:
    """Write a share to two digits: ``0.34%``, ``2%``, ``12%``."""
    return f"{general(float(f'{100.0 * share:.2g}'))}%"


def duration(seconds: float) -> str:
    """Write a duration for people: ``1 h 05 min``, ``3 min 20 s``, ``12 s``."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"
