"""Adapts JAX: placing arrays, synchronising, jit or op-by-op execution and the settings in force."""

from __future__ import annotations

import os

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
import optax

from ..program import Program, Unsupported

# Small programs are cached too, or a warm start would be no warmer than a cold one; the folder comes from the host
# through JAX_COMPILATION_CACHE_DIR.
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


class Adapter:
    """JAX on one device, in one mode, at one precision."""

    def __init__(self, mode, device, precision, threads):
        try:
            self.device = jax.devices("gpu" if device == "gpu" else "cpu")[0]
        except RuntimeError as error:
            raise Unsupported("jax {} sees no {}: {}".format(jax.__version__, device, error)) from error
        self.mode = mode
        self.dtype = jnp.dtype(precision)
        if precision == "float64":
            jax.config.update("jax_enable_x64", True)
        # DEFAULT would be TF32 on an A100 or H100; on a CPU this changes nothing.
        jax.config.update("jax_default_matmul_precision", "highest" if precision == "float32" else "default")

    def put(self, array):
        array = np.asarray(array)
        if array.dtype.kind == "f":
            array = array.astype(self.dtype)
        return jax.device_put(array, self.device)

    def get(self, value):
        array = np.asarray(value)
        return array if array.dtype.kind in "iub" else array.astype(np.float64)

    def synchronize(self, outputs):
        jax.block_until_ready(outputs)

    def transform(self, function, training=False, **options):
        """Keyword ``donate_argnums`` is jit's; op-by-op execution has nothing to donate."""
        return jax.jit(function, **options) if self.mode == "jit" else function

    def settings(self):
        return {
            "threads": len(os.sched_getaffinity(0)),
            "float32 matmul": str(jax.config.jax_default_matmul_precision),
            "x64": bool(jax.config.jax_enable_x64),
            "XLA flags": os.environ.get("XLA_FLAGS", ""),
            "platform": self.device.platform,
        }

    def versions(self):
        return {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "optax": optax.__version__}

    def memory(self):
        reported = self.device.memory_stats() or {}
        return {"allocated_peak_bytes": reported["peak_bytes_in_use"]} if "peak_bytes_in_use" in reported else {}


def inference(function, parameters, transform):
    """Make the program of ``function(parameters, *batch) -> {name: array}``; parameters are an argument."""
    transformed = transform(function)
    return Program(lambda *batch: transformed(parameters, *batch))


def make_optimizer(settings):
    """Make the optax optimizer that a specification's ``OPTIMIZER`` names."""
    if settings["name"] == "sgd":
        return optax.sgd(settings["learning_rate"], momentum=settings.get("momentum"))
    if settings["name"] == "adam":
        return optax.adam(
            settings["learning_rate"], b1=settings["beta1"], b2=settings["beta2"], eps=settings["epsilon"]
        )
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))


def functional_training(loss, parameters, transform, settings):
    """Make the program that trains ``parameters`` on ``loss(parameters, *batch)``.

    The whole step (forward, backward, optimizer) runs in the cell's mode, its state donated, as JAX's users write it.
    """
    optimizer = make_optimizer(settings)

    def update(state, *batch):
        parameters, memory = state
        value, gradients = jax.value_and_grad(loss)(parameters, *batch)
        updates, memory = optimizer.update(gradients, memory, parameters)
        return (optax.apply_updates(parameters, updates), memory), value

    transformed = transform(update, training=True, donate_argnums=0)
    initial = (parameters, optimizer.init(parameters))
    current = [None]

    def reset():
        # Donation consumes the buffers it is given, so the initial ones are copied.
        current[0] = jax.tree_util.tree_map(jnp.copy, initial)

    def step(*batch):
        current[0], value = transformed(current[0], *batch)
        # What one executable computes is ready at once, so waiting for the loss is waiting for all of it; walking the
        # whole state would cost every step 4 to 20 us that are not JAX's. Op by op each array is waited for.
        return {"loss": value} if transform.mode == "jit" else {"loss": value, "state": current[0]}

    reset()
    return Program(step, lambda: current[0][0], reset)
