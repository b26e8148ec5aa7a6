"""Makes the programs that train parameters with optax, as pure functions."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import optax

from ...program import Program
from .. import forms, halves, precisions
from . import looping, parallel
from .compiler import JITTED
from .products import Products


def make_optimizer(settings):
    """Make the optax optimizer that a specification's ``OPTIMIZER`` names."""
    if settings["name"] == "sgd":
        return optax.sgd(settings["learning_rate"], momentum=settings.get("momentum"))
    if settings["name"] in ("adam", "adamw"):
        options = {"b1": settings["beta1"], "b2": settings["beta2"], "eps": settings["epsilon"]}
        if settings["name"] == "adam":
            return optax.adam(settings["learning_rate"], **options)
        return optax.adamw(settings["learning_rate"], weight_decay=settings["weight_decay"], **options)
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))


def functional_training(
    loss, parameters, transform, settings, *, kept=None, differentiate=None, outputs=None, casts=True, **given_settings
):
    """Make the program that trains ``parameters`` on ``loss(parameters, *batch)``.

    The whole step (forward, backward, optimizer) runs in the cell's mode, its state donated, as JAX's users write it.
    ``given_settings`` are ``layout`` and ``attention``, as for ``inference``. ``kept`` is {name: array} that steps
    update without gradients, such as running statistics, which are those of all devices (``parallel.moments_of_all``);
    with it, ``loss(parameters, kept, *batch)`` returns (loss, new kept). ``differentiate(parameters, kept, *batch)``,
    in place of a loss, returns ((loss, new kept), gradients).
    ``outputs(parameters, *inputs)`` gives the logits from which a training to a result is evaluated. In mixed precision
    this ``casts``, unless the layers of ``loss`` do.
    """
    optimizer = make_optimizer(settings)
    devices = devices_of(transform.mode, parameters, whole=differentiate is None)
    keeping = in_precision(loss, kept, transform.precision if casts else None)
    leaves, structure = jax.tree_util.tree_flatten(parameters)
    products = Products(differentiate or jax.value_and_grad(keeping, has_aux=True), transform.precision)
    differentiate = by_leaves(devices.averaging(products), structure)

    def update(state, *batch):
        values, memory, kept = state
        (value, kept), gradients = differentiate(values, kept, *batch)
        updates, memory = optimizer.update(gradients, memory, values)
        return (optax.apply_updates(values, updates), memory, kept), value

    initial = devices.placed((leaves, optimizer.init(leaves), kept or {}))
    current, given = [None], [None]
    jitted = transform.mode in JITTED

    def in_force():
        # A donated array is deleted by the step.
        found = {"donation": given[0].is_deleted(), "fused optimizer": "by the compiler" if jitted else False}
        found.update(forms.given(**given_settings), **products.settings(), **devices.settings(current[0]))
        return found

    transform_step = functools.partial(transform, training=True, settings=in_force, part="step", donate_argnums=0)
    advance = devices.advancing(update, transform_step)

    def run(batches):
        current[0], value = advance(current[0], batches)
        # All that one executable computes is ready at once, and each step needs the one before, so waiting for the last
        # loss is waiting for everything. Op by op each array is waited for.
        return {"loss": value} if jitted else {"loss": value, "state": current[0]}

    def reset():
        # Donation consumes its buffers, so the initial ones are copied.
        current[0] = jax.tree_util.tree_map(jnp.copy, initial)
        # Only the smallest is kept: keeping all would cost memory where nothing is donated.
        given[0] = min(jax.tree_util.tree_leaves(current[0]), key=lambda array: array.nbytes)

    def current_parameters():
        values, _, kept = devices.single(current[0])
        return dict(jax.tree_util.tree_unflatten(structure, values), **kept)

    reset()
    return Program(
        lambda *batch: run((batch,)), current_parameters, reset, run, evaluation(outputs, current_parameters)
    )


def in_precision(loss, kept, precision):
    """Return ``loss(parameters, kept, *batch)``, which gives the loss and the new kept.

    In mixed precision it casts parameters and batch to bfloat16, but not those of normalisations and what is kept;
    gradients and updates stay in float32.
    """
    keeping = loss if kept is not None else lambda parameters, kept, *batch: (loss(parameters, *batch), kept)
    if precision != precisions.MIXED:
        return keeping

    def narrow(value):
        return value.astype(jnp.bfloat16) if value.dtype == jnp.float32 else value

    def mixed(parameters, kept, *batch):
        cast = {name: narrow(value) if precisions.is_narrowed(name) else value for name, value in parameters.items()}
        return keeping(cast, kept, *map(narrow, batch))

    return mixed


def by_leaves(differentiate, structure):
    """Return ``differentiate`` of parameters in a list, which is what a step takes and gives, with gradients in one.

    JAX sorts the names of a dictionary in every call: with 30 parameters that is 12 of 236 µs. With 1,000, a
    dictionary took 0.88 to 0.94 of the time, for an unknown reason. The optimizers of jax.example_libraries keep lists.
    """

    def differentiated(values, *others):
        found, gradients = differentiate(jax.tree_util.tree_unflatten(structure, values), *others)
        return found, jax.tree_util.tree_leaves(gradients)

    return differentiated


def evaluation(outputs, parameters):
    """Return ``evaluate``, in whatever mode compiled by XLA: it is no part of what is timed."""
    if outputs is None:
        return None
    compiled = jax.jit(outputs)
    return lambda *inputs: compiled(parameters(), *inputs)


def devices_of(mode, parameters, whole):
    """Return the devices of a mode; ``whole`` says whether a step is the mean of those of a batch's parts."""
    if mode not in parallel.MODES:
        return OneDevice(mode, parameters)
    halves.verify_program(mode, training=True, whole=whole)
    return parallel.Replicas(mode)


class OneDevice:
    """The device on which parameters lie, where a step is computed as a whole."""

    def __init__(self, mode, parameters):
        self._mode = mode
        (self._device,) = next(iter(parameters.values())).devices()

    def placed(self, state):
        # jit would compile again for the arrays that a first step returns, were the state elsewhere or nowhere before.
        return jax.device_put(state, self._device)

    def single(self, state):
        return state

    def settings(self, state):
        return {}

    def averaging(self, differentiate):
        return differentiate

    def advancing(self, update, transform_step):
        """Return ``advance(state, batches)``, which calls the transformed ``update`` once for each batch, or once."""
        if self._mode == "jit-loop":
            return looping.in_one(update, transform_step)
        transformed = transform_step(update)

        def advance(state, batches):
            for batch in batches:
                state, value = transformed(state, *batch)
            return state, value

        return advance
