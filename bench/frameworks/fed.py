"""Feeds training programs by an input pipeline of their framework's, in place of batches that lie on the device."""

from __future__ import annotations

from ..program import Program, Unsupported


def verify_mode(transform):
    """Raise Unsupported for a mode that no pipeline can feed."""
    if transform.places_batches:
        raise Unsupported(
            "mode {} places its batches before it is timed, so no pipeline can feed it; use another".format(
                transform.mode
            )
        )


def feeding(transform, settings):
    """Return a transform that reports the pipeline's ``settings``, too. Raises Unsupported where none can feed a mode.

    ``settings`` is {name: value}.
    """
    verify_mode(transform)

    def apply(function, **options):
        read = options.pop("settings", dict)
        return transform(function, settings=lambda: dict(read(), **settings), **options)

    return transform.calling(apply)


def fed(program, feed, **fields):
    """Return ``program`` with runs that train on what the pipeline makes of their batches; ``fields`` are more of it.

    ``feed(batches)`` returns an iterable, which ends when it has made a batch of each. It gets the batches of one run
    and no others, so a pipeline cannot work ahead for the next sample. All that it does is part of the run's time.
    """

    def step_by_step(batches):
        for batch in batches:
            outputs = program.step(*batch)
        return outputs

    advance = program.run or step_by_step

    def run(batches):
        return advance(feed(batches))

    return program._replace(step=lambda *batch: run((batch,)), run=run, starts=True, **fields)


def delivering(transform, feed, settings, **fields):
    """Make the program of a pipeline alone, whose outputs are the last batch; the rest is as for ``fed``."""
    if transform.mode != "eager":
        raise Unsupported("nothing of an input pipeline is compiled: see eager")

    def run(batches):
        for images, labels in feed(batches):  # noqa: B007 (the last ones are returned)
            pass
        return {"images": images, "labels": labels}

    run = transform(run, settings=lambda: settings)
    return Program(lambda *batch: run((batch,)), run=run, starts=True, **fields)
