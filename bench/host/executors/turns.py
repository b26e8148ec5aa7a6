"""Draws the orders within one row round: who starts when, who takes a turn when, and the memory layout they share.

The functions are pure: the same seed always gives the same order.
"""

from __future__ import annotations

import random


def start_order(seed: int, number: int, row: str, count: int) -> list[int]:
    """Return the order in which ``count`` processes of round ``number`` are started and prepared.

    The order of starting changes what a process finds: with one fixed order, the second of two identical cells was
    slower by 1 % in every pair (nox -s validate). The order is seeded and random, and every other round reverses the
    order of the round before: each cell precedes each other cell equally often.
    """
    order = list(range(count))
    # The last word is part of the seed: another one would change the orders of runs that are continued.
    random.Random(f"{seed}/{number // 2}/{row}/seats").shuffle(order)
    return order[::-1] if number % 2 else order


def layout_seed(seed: int, number: int, row: str, attempt: int) -> int:
    """Return the seed of the memory layout that the processes of one row round share."""
    return random.Random(f"{seed}/{number}/{row}/layout/{attempt}").getrandbits(32)


def round_seed(seed: int, number: int) -> int:
    """Return the seed of what all processes of a round share: the addresses of libraries, the order of hashes."""
    return random.Random(f"{seed}/{number}/layout").getrandbits(32)


def turn_order(seed: int, number: int, row: str, turn: int, count: int) -> list[int]:
    """Return the seeded random order in which ``count`` processes take one turn."""
    order = list(range(count))
    random.Random(f"{seed}/{number}/{row}/{turn}").shuffle(order)
    return order
