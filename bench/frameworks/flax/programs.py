"""Makes the programs that Flax's users write: a model of nnx or linen, with an optimizer of optax."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from flax import nnx, traverse_util

from ...program import Program, Transform
from ..jax import programs as of_jax
from ..jax.training import functional_training, make_optimizer

#: What Flax calls a parameter that a specification's name ends with.
KINDS = {"weight": "kernel", "bias": "bias", "scale": "scale", "shift": "bias", "embedding": "embedding"}


def training(models, paths, parameters, transform, settings, **found):
    """Make the program that trains a model from a batch's inputs to logits on the mean cross-entropy.

    ``models`` is {"nnx": a function that makes a model of nnx from nnx.Rngs, "linen": a model of linen}. ``paths`` maps
    the specification's names to the paths of the parameters there, which are the same in both. ``found`` are settings
    that the program has, such as ``layout``.
    """
    make = with_objects if transform.mode == "nnx" else with_functions
    return make(models, paths, parameters, transform, settings, found)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def with_functions(models, paths, parameters, transform, settings, found):
    predict = functional(models, paths, transform.mode)

    def loss(parameters, inputs, labels):
        return cross_entropy(predict(parameters, inputs), labels)

    return functional_training(loss, parameters, jitted(transform), settings, outputs=predict, **found)


def with_objects(models, paths, parameters, transform, settings, found):
    """Train a model and an nnx.Optimizer that nnx.jit takes and updates, as Flax's tutorials do."""
    model = models["nnx"](nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, make_optimizer(settings), wrt=nnx.Param)
    set_parameters(model, paths, parameters)
    initial = jax.tree_util.tree_map(jnp.copy, (nnx.state(model), nnx.state(optimizer)))

    def update(model, optimizer, inputs, labels):
        value, gradients = nnx.value_and_grad(lambda model: cross_entropy(model(inputs), labels))(model)
        optimizer.update(model, gradients)
        return value

    given = [None]

    def in_force():
        # A donated array is deleted by the step.
        return dict(found, **{"donation": given[0].is_deleted(), "fused optimizer": "by the compiler"})

    step = transform(update, training=True, settings=in_force, part="step", jit=nnx.jit, donate_argnums=(0, 1))

    def run(batches):
        for batch in batches:
            loss = step(model, optimizer, *batch)
        return {"loss": loss}

    def reset():
        for graph, state in zip((model, optimizer), initial):
            nnx.update(graph, jax.tree_util.tree_map(jnp.copy, state))
        given[0] = min(jax.tree_util.tree_leaves(nnx.state(model)), key=lambda array: array.nbytes)

    def current():
        state = traverse_util.flatten_dict(nnx.to_pure_dict(nnx.state(model, nnx.Param)))
        return {name: state[path] for name, path in paths.items()}

    reset()
    predict = nnx.jit(lambda model, inputs: model(inputs))
    return Program(lambda *batch: run((batch,)), current, reset, run, lambda inputs: predict(model, inputs))


def inference(models, paths, parameters, transform, output, **found):
    """Make the program of a model that maps a batch's input to what is called ``output``; see ``training``."""
    if transform.mode != "nnx":
        predict = functional(models, paths, transform.mode)

        def called(parameters, inputs):
            return {output: predict(parameters, inputs)}

        return of_jax.inference(called, parameters, jitted(transform), **found)
    model = models["nnx"](nnx.Rngs(0))
    set_parameters(model, paths, parameters)
    infer = transform(lambda model, inputs: {output: model(inputs)}, settings=lambda: found, jit=nnx.jit)
    return Program(lambda *batch: infer(model, *batch))


def functional(models, paths, mode):
    """Return ``predict(parameters, inputs)`` of a model of linen, or of nnx with its state split off."""
    if mode == "linen":
        model = models["linen"]
        return lambda parameters, inputs: model.apply({"params": nested(paths, parameters)}, inputs)
    definition, state = nnx.split(nnx.eval_shape(lambda: models["nnx"](nnx.Rngs(0))))

    def predict(parameters, inputs):
        given = nnx.clone(state, variables=True)
        nnx.replace_by_pure_dict(given, nested(paths, parameters))
        return nnx.merge(definition, given)(inputs)

    return predict


def nested(paths, parameters):
    """Return parameters by their paths, as nested dictionaries."""
    return traverse_util.unflatten_dict({paths[name]: value for name, value in parameters.items()})


def set_parameters(model, paths, parameters):
    """Give a model of nnx copies of the specification's parameters."""
    state = nnx.state(model, nnx.Param)
    nnx.replace_by_pure_dict(state, nested(paths, jax.tree_util.tree_map(jnp.copy, parameters)))
    nnx.update(model, state)


def jitted(transform):
    """Return the transform of JAX's own mode ``jit``, for programs that are functions of their parameters."""
    return Transform("jit", transform, transform.part)
