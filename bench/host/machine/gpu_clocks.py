"""Reads from the NVIDIA driver how fast a GPU's clock runs, what lowers it, and which limits are set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .nvml import answer

TOO_HOT = "thermal slowdown"
POWER_CAP = "power cap"
POWER_BRAKE = "power brake"
#: The bits of what the driver calls clocks event reasons, before driver 535 clocks throttle reasons. Not among them are
#: idleness, and the limits that every GPU reaches at its highest clock.
REASONS = {
    0x02: "application clocks",
    0x04: POWER_CAP,
    # May also be seen while the clock changes.
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: TOO_HOT,
    0x40: TOO_HOT,
    0x80: POWER_BRAKE,
    0x100: "display clocks",
}
#: The bit of a GPU that has nothing to do: its clock falls.
IDLE = 0x01
#: What does not come from the program and its limits: a GPU that is not cooled well, a power supply that is overloaded.
DISTURBING = (TOO_HOT, POWER_BRAKE)
#: The driver's counters of the time in which the clock was lowered: its "perf policies" (NVML_PERF_POLICY_…).
COUNTED = {0: POWER_CAP, 1: TOO_HOT}
#: The clock of the multiprocessors (NVML_CLOCK_SM).
SM_CLOCK = 1


@dataclass(frozen=True)
class Clocks:
    """What the driver tells of the clock of a GPU at one moment; empty where it tells nothing."""

    #: None for an idle GPU, too.
    mhz: float | None = None
    #: What lowers it now.
    reasons: frozenset[str] = frozenset()
    #: {reason: for how long it has lowered the clock until now}
    counted: Mapping[str, int] = field(default_factory=dict)


def read(library: Any, gpu: Any) -> Clocks:
    """Read the clock of a GPU now; ``library`` has the functions of pynvml."""
    bits = answer(library, "nvmlDeviceGetCurrentClocksEventReasons", gpu)
    if bits is None:
        bits = answer(library, "nvmlDeviceGetCurrentClocksThrottleReasons", gpu) or 0
    mhz = None if bits & IDLE else answer(library, "nvmlDeviceGetClockInfo", gpu, SM_CLOCK)
    counted = {}
    for policy, reason in COUNTED.items():
        told = answer(library, "nvmlDeviceGetViolationStatus", gpu, policy)
        if told is not None:
            counted[reason] = int(told.violationTime)
    reasons = frozenset(reason for bit, reason in REASONS.items() if bits & bit)
    return Clocks(None if mhz is None else float(mhz), reasons, counted)


def lowered(before: Clocks | None, now: Clocks) -> frozenset[str]:
    """Return what lowered the clock between two readings, and what lowers it now.

    The counters show what ended before ``now``: power falls as soon as a GPU has finished.
    """
    known = {} if before is None else before.counted
    return now.reasons | {reason for reason, time in now.counted.items() if time > known.get(reason, time)}


def limits(library: Any, gpu: Any) -> dict[str, str]:
    """Return the application clock and the power limit that are set, with the defaults where they differ."""
    found = {
        "GPU application clock": _of_default(
            answer(library, "nvmlDeviceGetApplicationsClock", gpu, SM_CLOCK),
            answer(library, "nvmlDeviceGetDefaultApplicationsClock", gpu, SM_CLOCK),
            "MHz",
        ),
        # In milliwatts.
        "GPU power limit": _of_default(
            _thousandth(answer(library, "nvmlDeviceGetEnforcedPowerLimit", gpu)),
            _thousandth(answer(library, "nvmlDeviceGetPowerManagementDefaultLimit", gpu)),
            "W",
        ),
    }
    return {name: value for name, value in found.items() if value}


def _thousandth(value: int | None) -> float | None:
    return None if value is None else value / 1e3


def _of_default(value: float | None, default: float | None, unit: str) -> str:
    """Write a limit, such as ``500 W (default 700 W)``; empty where it is unknown."""
    if value is None:
        return ""
    changed = default is not None and default != value
    return f"{value:.0f} {unit}" + (f" (default {default:.0f} {unit})" if changed else "")
