"""Records operations as PyTorch/XLA's lazy tensors do, and lets XLA compile and run them at the end of every step."""

from __future__ import annotations

import os

import torch

from ...program import Unsupported
from .. import loaded
from .shapes import fixed_shapes

try:
    import torch_xla
    from torch_xla.core import xla_model
    from torch_xla.debug import metrics
except ImportError:  # It is an addition that few environments have.
    torch_xla = None

#: The second has torch.compile in front, which calls executables of Dynamo's graphs; the rest is recorded in both.
MODES = XLA, OPENXLA = ("xla", "compile-openxla")
#: The part that is one of several calls of a step of inference: the program itself waits at the end of the step.
CALL = "call"
#: Settings of the kernels that compute where XLA does not.
OWN = ("interop threads", "kernels", "instruction set", "BLAS")


def device(kind):
    """Return XLA's device for a processor. Raises Unsupported where there is none."""
    if torch_xla is None:
        raise Unsupported("torch {} has no torch_xla beside it".format(torch.__version__))
    if kind != "cpu":
        raise Unsupported("modes {} compute on XLA's device for a processor".format(" and ".join(MODES)))
    os.environ.setdefault("PJRT_DEVICE", "CPU")
    return torch_xla.device()


def wait():
    """Run what is recorded, and wait for all that runs."""
    torch_xla.sync()
    xla_model.wait_device_ops()


def stepping(function, *, waits=False, calls=False):
    """Return a function that calls ``function`` and runs what it recorded; ``waits`` for it or not.

    ``calls`` says that it calls executables of Dynamo's graphs, which are not recorded: sync does not wait for them.
    """

    if waits and calls:
        return calling(function)

    def call(*arguments):
        result = function(*arguments)
        torch_xla.sync(wait=waits)
        return result

    return call


def calling(function):
    """Return a function that calls one of Dynamo's executables and waits for its tensors, or for those it wrote into.

    What of them is only recorded runs first. A sync with nothing to run took 20 of 80 µs.
    """
    are_recorded = torch_xla._XLAC._check_tensor_need_materialization

    def call(*arguments):
        result = function(*arguments)
        changed = arguments if result is None else result if isinstance(result, (tuple, list)) else (result,)
        if any(are_recorded([each for each in changed if isinstance(each, torch.Tensor)])):
            torch_xla.sync(wait=True)
        xla_model.wait_device_ops()
        return result

    return call


def described(settings):
    """Return settings with what XLA has in place of PyTorch's own kernels.

    It has as many threads as there were processors when it started, and computes after a call has returned.
    """
    found = {name: value for name, value in settings.items() if name not in OWN}
    found.update(threads=len(loaded.processors()), dispatch="asynchronous")
    if "attention" in found:
        # XLA has no kernel for it.
        found["attention"] = "composed"
    return found


def versions():
    return {"torch_xla": torch_xla.__version__}


class Lazy:
    """Executes as the mode does, and counts what XLA compiled."""

    def __init__(self, mode):
        self._mode = mode
        self._part = "forward"

    def apply(self, function, training, part):
        if self._mode == OPENXLA and part != "optimizer":
            function = torch.compile(function, backend="openxla", **fixed_shapes())
        if not training:
            # Steps of inference do not need each other, and overlapping ones would not show how long one takes.
            return stepping(function, waits=part != CALL, calls=self._mode == OPENXLA)
        self._part = "forward, backward and optimizer"
        # The optimizer ends a step: forward and backward are in the same graph, or in what Dynamo compiled with it.
        return stepping(function) if part in ("optimizer", "step") else function

    def report(self):
        found = metrics.metric_data("CompileTime")
        graphs = int(found[0]) if found else 0
        return {"compiled": self._part if graphs else "nothing", "graphs": graphs, "compilations": graphs}
