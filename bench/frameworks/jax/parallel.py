"""Divides training steps among two GPUs or logical devices of a processor, with pmap or shard_map."""

from __future__ import annotations

import inspect

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .. import halves, xla

PMAP, SHARD_MAP = "pmap", "shard-map"
MODES = (PMAP, SHARD_MAP)
AXIS = "batch"


def ask(mode, device, threads):
    """Ask for logical devices of a processor, before JAX looks for devices. Raises Unsupported where there are none."""
    if device == "cpu":
        halves.verify_threads(mode, threads)
        xla.add_flags("XLA_FLAGS", "--xla_force_host_platform_device_count={}".format(halves.DEVICES))


def pmap_keeps_code():
    """Tell whether what pmap compiled can be read back from the disk.

    In JAX 0.4 pmap is an object with executables of a kind of its own. One that 0.4.30 has read from the disk writes
    its results into freed memory. Newer ones are functions of Python, which call ``jit`` of a ``shard_map``.
    """
    return inspect.isfunction(jax.pmap(abs))


def devices(mode):
    """Return the devices. Raises Unsupported where there are too few."""
    found = jax.devices()
    halves.verify_gpus(mode, len(found))
    return found[: halves.DEVICES]


def moments_of_all(mean, variance):
    """Return the mean and the variance of the values of all devices, given those of this device's, within a step.

    The devices have equally many values. One exchange is enough, and no mean of squares loses bits.
    """
    means, variances = lax.all_gather(jnp.stack([mean, variance]), AXIS, axis=1)
    whole = means.mean(axis=0)
    return whole, variances.mean(axis=0) + jnp.square(means - whole).mean(axis=0)


class Replicas:
    """The devices, each with a copy of the parameters and a part of every batch."""

    def __init__(self, mode):
        self._mode = mode
        found = devices(mode)
        # With several steps under way on a processor, their all-reduces wait for each other's threads forever (0.10.2).
        self._waits = found[0].platform == "cpu"
        self._mesh = Mesh(np.array(found), (AXIS,))
        self._divided = NamedSharding(self._mesh, PartitionSpec(AXIS))
        #: Returns its arrays as pmap lays them out. JAX 0.4 copies others in every step, through the host.
        self._as_pmap = jax.pmap(lambda arrays: arrays, axis_name=AXIS) if mode == PMAP else None
        self._halves = halves.Halves(mode, self._divide)

    def _divide(self, batch):
        if self._mode == PMAP:
            batch = tuple(array.reshape(halves.DEVICES, -1, *array.shape[1:]) for array in batch)
            return self._as_pmap(jax.device_put(batch, self._divided))
        return jax.device_put(batch, self._divided)

    def placed(self, state):
        """Copy a state to every device; for pmap, its arrays then have an axis of devices."""
        if self._mode == SHARD_MAP:
            return jax.device_put(state, NamedSharding(self._mesh, PartitionSpec()))
        return jax.device_put(
            jax.tree_util.tree_map(lambda array: jnp.stack([array] * halves.DEVICES), state), self._divided
        )

    def single(self, state):
        """Return the copy on the first device."""
        return jax.tree_util.tree_map(lambda array: array[0], state) if self._mode == PMAP else state

    def settings(self, state):
        """Read back on how many devices the state lies, and whether each step is waited for."""
        found = {len(array.sharding.device_set) for array in jax.tree_util.tree_leaves(state)}
        return {"devices": min(found), **({"synchronised": "every step"} if self._waits else {})}

    def averaging(self, differentiate):
        """Return ``differentiate`` with the loss and the gradients averaged over the devices."""

        def averaged(*arguments):
            (value, kept), gradients = differentiate(*arguments)
            value, gradients = lax.pmean((value, gradients), AXIS)
            return (value, kept), gradients

        return averaged

    def advancing(self, update, transform_step):
        """Return ``advance(state, batches)``, which calls ``update`` on all devices for each batch."""
        transformed = transform_step(lambda state, batch: update(state, *batch), jit=self._compiled)

        def advance(state, batches):
            for batch in batches:
                state, value = transformed(state, self._halves(batch))
                if self._waits:
                    value.block_until_ready()
            return state, value

        return advance

    def _compiled(self, step, **options):
        if self._mode == PMAP:
            return jax.pmap(step, axis_name=AXIS, out_axes=(0, None), **options)
        whole, part = PartitionSpec(), PartitionSpec(AXIS)
        sharded = shard_map(step, mesh=self._mesh, in_specs=(whole, part), out_specs=(whole, whole))
        return jax.jit(sharded, **options)


def shard_map(function, **options):
    """Call JAX's shard_map without its checks, with which it would add up the gradients by itself in newer versions."""
    if hasattr(jax, "shard_map"):
        make = jax.shard_map
    else:
        from jax.experimental.shard_map import shard_map as make
    checks = "check_vma" if "check_vma" in inspect.signature(make).parameters else "check_rep"
    return make(function, **{checks: False}, **options)
