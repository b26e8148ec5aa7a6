"""Holds what the frameworks' modes for several devices share: who may have them, and the parts of each batch.

They divide one global batch among the devices, average the gradients and update alike everywhere, so a step computes
what it computes on one device. The devices are two GPUs, or logical ones of a processor, which share its threads.
"""

from __future__ import annotations

from ..program import Unsupported

#: Devices that compute one step together.
DEVICES = 2


def verify_threads(mode, threads):
    """Raise Unsupported where the logical devices of a processor cannot share so many threads."""
    if threads % DEVICES:
        raise Unsupported(
            "mode {} divides threads among {} devices: {} cannot be divided".format(mode, DEVICES, threads)
        )


def verify_gpus(mode, count):
    """Raise Unsupported where a framework sees fewer GPUs than a step is divided among."""
    if count < DEVICES:
        raise Unsupported("mode {} computes on {} GPUs, and {} can be seen here".format(mode, DEVICES, count))


def verify_program(mode, *, training, whole=True):
    """Raise Unsupported for a program whose parts are not the whole: ``whole`` says that gradients are means."""
    if not training:
        raise Unsupported("mode {} divides training steps among devices: see the modes for one device".format(mode))
    if not whole:
        raise Unsupported(
            "mode {} averages gradients of halves of a batch; those of this workload are given, or depend on the whole "
            "batch".format(mode)
        )


def verify_batch(mode, batch):
    """Raise Unsupported for a batch that has no equal halves."""
    lengths = {len(array) for array in batch}
    if len(lengths) > 1 or lengths.pop() % DEVICES:
        raise Unsupported("mode {}: this batch has no {} equal parts".format(mode, DEVICES))


class Halves:
    """Divides batches once and keeps the parts, as a pipeline of input would deliver them to each device."""

    def __init__(self, mode, divide):
        """``divide(batch)`` places equal parts of the arrays of a batch on the devices."""
        self._mode = mode
        self._divide = divide
        #: {identity of a batch's first array: (batch, parts)}; holding the batch keeps the identity its own.
        self._known = {}

    def __call__(self, batch):
        """Return the parts of a batch. Raises Unsupported where it has no equal halves."""
        known = self._known.get(id(batch[0]))
        if known is None:
            verify_batch(self._mode, batch)
            known = self._known[id(batch[0])] = (batch, self._divide(batch))
        return known[1]
