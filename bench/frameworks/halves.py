"""Holds what the frameworks' modes for several devices share: who may have them, and the parts of each batch.

They divide one global batch among the devices, average the gradients and update alike everywhere, so a step computes
what it computes on one device. The devices are logical ones of a processor, and share its threads.
"""

from __future__ import annotations

from ..program import Unsupported

#: Devices that compute one step together.
DEVICES = 2


def verify(mode, device, threads):
    """Raise Unsupported where a mode for several devices cannot have as many on ``device`` with so many threads."""
    if device != "cpu":
        raise Unsupported("mode {} computes on {} logical devices of a processor".format(mode, DEVICES))
    if threads % DEVICES:
        raise Unsupported(
            "mode {} divides threads among {} devices: {} cannot be divided".format(mode, DEVICES, threads)
        )


def verify_program(mode, *, training, whole=True):
    """Raise Unsupported for a program whose parts are not the whole: ``whole`` says that gradients are means."""
    if not training:
        raise Unsupported("mode {} divides training steps among devices: see the modes for one device".format(mode))
    if not whole:
        raise Unsupported(
            "mode {} averages gradients of halves of a batch; those of this workload are given, or depend on the whole "
            "batch".format(mode)
        )


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
            lengths = {len(array) for array in batch}
            if len(lengths) > 1 or lengths.pop() % DEVICES:
                raise Unsupported("mode {}: this batch has no {} equal parts".format(self._mode, DEVICES))
            known = self._known[id(batch[0])] = (batch, self._divide(batch))
        return known[1]
