"""Computes after how many steps a version's faster steps have made up for a longer import and first call."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import numpy as np

from ..statistics import bootstrap
from ..statistics.bootstrap import FEWEST_FOR_BOOTSTRAP, CountArray, Estimate
from ..statistics.location import FloatArray
from .process_values import Values, first_calls
from .release_verdicts import Step, VersionVerdict
from .releases import Release

#: Stands for infinity where quantiles are interpolated.
NEVER = 1e18


def break_even(release: Release, step: Step, cache: str, imports: Mapping[str, Values]) -> Estimate | None:
    """Return the steps after which a process of this version leads, from its start on, and their interval.

    0 where its start is no longer, infinite where its steps are slower. ``cache`` is ``cold`` or ``warm``; ``imports``
    are the seconds of the imports of each environment. The interval is a bootstrap over rounds; there is none where few
    rounds have such a first call. None where no difference between the steps is known, as the cost would be divided by
    noise, or without first calls.
    """
    if step.change in (None, VersionVerdict.SAME, VersionVerdict.UNCLEAR):
        return None
    longer = _differences(_starts(release, cache, imports), _starts(step.other, cache, imports))
    saved = _differences(_steps(step.other), _steps(release))
    if not longer or not saved:
        return None
    value = _quotient(np.median(list(longer.values())), np.median(list(saved.values())))
    common = [key for key in longer if key in saved]
    if len(common) < FEWEST_FOR_BOOTSTRAP:
        return Estimate(_limited(value), None, None, len(common))
    extra, saving = (np.array([values[key] for key in common]) for values in (longer, saved))

    def statistic(_places: FloatArray, counts: CountArray) -> FloatArray:
        return _quotient(bootstrap.median(extra, counts), bootstrap.median(saving, counts))

    found = bootstrap.estimate(np.arange(len(common), dtype=np.float64), statistic)
    assert found.low is not None
    assert found.high is not None
    return Estimate(_limited(value), _limited(found.low), _limited(found.high), found.n)


def _quotient(longer: FloatArray | np.floating, saving: FloatArray | np.floating) -> FloatArray:
    """Divide: 0 where nothing has to be made up for, ``NEVER`` where nothing is saved."""
    safe = np.where(np.asarray(saving) > 0, saving, 1.0)
    steps = np.minimum(np.maximum(longer, 0.0) / safe, NEVER)
    return np.where(np.asarray(saving) > 0, steps, NEVER)


def _limited(steps: FloatArray | float) -> float:
    return math.inf if float(steps) >= NEVER / 2.0 else float(steps)


def _starts(release: Release, cache: str, imports: Mapping[str, Values]) -> Values:
    """Return the seconds of the import and the first call of each process."""
    calls, imported = first_calls(release.result, cache), imports.get(release.environment, {})
    usual = float(np.median(list(imported.values()))) if imported else 0.0
    return {key: call + imported.get(_round(key), usual) for key, call in calls.items()}


def _round(key: Hashable) -> Hashable:
    """Return the key of an import, which belongs to a round and not to an attempt."""
    return (key[0], 0) if isinstance(key, tuple) else key


def _steps(release: Release) -> Values:
    return {process.key: process.location.median for process in release.result.timed}


def _differences(values: Values, others: Values) -> Values:
    """Return the difference of each pair of processes of one round."""
    return {key: value - others[key] for key, value in values.items() if key in others}
