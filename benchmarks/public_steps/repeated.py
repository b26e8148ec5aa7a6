"""Makes runs of steps: of one that has its batch already, and of one that gets its batches from a pipeline."""

from __future__ import annotations

import functools


def repeated(step):
    """Return ``run(batches)``, which does the step once for each batch and gives what the last one gave.

    A step that does many at once has a ``run`` of its own.
    """
    if hasattr(step, "run"):
        return step.run

    def run(batches):
        for _ in batches:
            outputs = step()
        return outputs

    return run


def holding(step, batch):
    """Return a step that has its batch, whatever it is given."""
    return lambda *given: step(*batch)


class Piped:
    """Does a step with each batch of a pipeline; one of as many batches as a run has is kept for the next such run."""

    def __init__(self, step, pipeline):
        self._step = step
        self._made = functools.lru_cache(maxsize=None)(pipeline)

    def run(self, batches):
        for batch in self._made(len(batches)):
            outputs = self._step(*batch)
        return outputs
