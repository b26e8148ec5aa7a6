"""Computes the shortest possible time of a step from measured peaks, and the share of them that a cell achieved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: A peak is the best of some seconds of trials and may be measured while the machine is slow. So a cell is called too
#: fast only where it is faster than the floor by more than this share.
MARGIN = 0.25

#: (working set in bytes, bytes read and written per second), in any order.
Bandwidths = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Achieved:
    """The rates that a cell achieved, and their shares of the measured peaks; None where work or peak is unknown."""

    flops_per_s: float | None
    bytes_per_s: float | None
    flops_share: float | None
    bytes_share: float | None


def bandwidth_for(compulsory_bytes: float, bandwidths: Bandwidths) -> float | None:
    """Return the largest bandwidth that a working set of this size can have; None without a probe.

    Small sets fit into caches, which are faster. Probes of at least half the size count, as a part of the set may stay
    in a cache that is too small for all of it. Where every probe was smaller, the largest one counts.
    """
    if not bandwidths:
        return None
    admitted = [rate for size, rate in bandwidths if size >= compulsory_bytes / 2]
    return max(admitted) if admitted else max(bandwidths)[1]


def floor_s(
    useful_flops: float,
    compulsory_bytes: float,
    flops_per_s: float | None,
    bandwidths: Bandwidths,
    *,
    flops_divisor: float = 1.0,
) -> float:
    """Return the shortest possible seconds of a step: the roofline (Williams, Waterman & Patterson 2009).

    ``flops_divisor`` is how many times fewer operations than the useful ones the fastest known algorithm needs, such as
    2.25 for a 3×3 convolution as Winograd's F(2×2, 3×3) (Lavin & Gray 2016). An unknown peak sets no floor.
    """
    bandwidth = bandwidth_for(compulsory_bytes, bandwidths)
    compute_s = useful_flops / flops_divisor / flops_per_s if flops_per_s else 0.0
    memory_s = compulsory_bytes / bandwidth if bandwidth else 0.0
    return max(compute_s, memory_s)


def achieved(
    step_s: float, useful_flops: float, compulsory_bytes: float, flops_per_s: float | None, bandwidths: Bandwidths
) -> Achieved:
    """Return a step's useful FLOP/s and compulsory bytes/s; a fast algorithm may exceed a share of 1."""
    flops = useful_flops / step_s if useful_flops else None
    moved = compulsory_bytes / step_s if compulsory_bytes else None
    bandwidth = bandwidth_for(compulsory_bytes, bandwidths)
    return Achieved(
        flops,
        moved,
        flops / flops_per_s if flops and flops_per_s else None,
        moved / bandwidth if moved and bandwidth else None,
    )


def implausible(
    step_s: float,
    useful_flops: float,
    compulsory_bytes: float,
    flops_per_s: float | None,
    bandwidths: Bandwidths,
    *,
    flops_divisor: float = 1.0,
    margin: float = MARGIN,
) -> str | None:
    """Return why a step cannot have been so fast; None where it can, or the peaks are unknown."""
    least_s = floor_s(useful_flops, compulsory_bytes, flops_per_s, bandwidths, flops_divisor=flops_divisor)
    if step_s * (1.0 + margin) >= least_s:
        return None
    times = f"{least_s / step_s:.3g} times" if step_s > 0 else "infinitely many times"
    compute_s = floor_s(useful_flops, 0.0, flops_per_s, (), flops_divisor=flops_divisor)
    if math.isclose(least_s, compute_s):
        does = f"{useful_flops / flops_divisor:.3g} operations"
        can = f"{flops_per_s:.3g} per second"
    else:
        does = f"{compulsory_bytes:.3g} bytes"
        can = f"{bandwidth_for(compulsory_bytes, bandwidths):.3g} per second at most for so many"
    return (
        f"a step of {step_s:.3g} s is {times} faster than this machine can be: {does} take at least {least_s:.3g} s, "
        f"as it was measured to do {can}, with a margin of {margin:.0%}"
    )
