"""Adds a mode to NumPy in which an overflow or a division by zero is an error."""

from __future__ import annotations

from bench.frameworks.facts import Mode

MODES = (Mode("checked"),)


def apply(mode, function, training, part):
    import numpy as np

    def checked(*arguments):
        with np.errstate(all="raise", under="ignore"):
            return function(*arguments)

    return checked


def compilation(mode):
    return {"compiled": "nothing", "compilations": 0}
