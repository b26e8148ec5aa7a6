"""Makes the run of a step that has its batch already."""

from __future__ import annotations


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
