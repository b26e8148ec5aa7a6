"""Implements lenet-input in JAX: a data set of Grain, which JAX's documentation names and JAX does not bring."""

from __future__ import annotations

import jax

from ...frameworks import loaded
from ...frameworks.fed import fed, feeding, verify_mode
from ...frameworks.jax.adapter import functional_training
from ...program import Unsupported
from ..lenet_train.jax import loss, of_mode
from . import OPTIMIZER, PREFETCHED
from .numpy import decoded

try:
    import grain
except ImportError:
    grain = None


class Pipeline:
    """Batches of a run in its order, decoded by threads of Grain's where the cell has more threads than one."""

    def __init__(self, batch):
        """Put batches where ``batch`` is. Raises Unsupported without Grain."""
        if grain is None:
            raise Unsupported("grain is not installed, and JAX has no input pipeline of its own: see jax-grain")
        (self._device,) = batch[0].devices()
        self._threads = len(loaded.processors()) - 1

    def settings(self):
        return {"pipeline": "grain " + grain.__version__, "pipeline workers": self._threads}

    def __call__(self, batches):
        dataset = grain.MapDataset.source(jax.device_get(batches)).map(lambda batch: decoded(*batch))
        for batch in dataset.to_iter_dataset(grain.ReadOptions(self._threads, PREFETCHED * max(1, self._threads))):
            yield jax.device_put(batch, self._device)


def build(size, parameters, batch, transform):
    # Of two reasons, this one holds with Grain as well.
    verify_mode(transform)
    pipeline = Pipeline(batch)
    transform = feeding(transform, pipeline.settings())
    loss_of_mode = of_mode(loss, transform.mode)
    return fed(functional_training(loss_of_mode, parameters, transform, OPTIMIZER, layout="NHWC"), pipeline)
