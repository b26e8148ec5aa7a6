"""Makes the programs that Flax's users write: a model of nnx or linen, with an optimizer of optax."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx, traverse_util

from ...program import Program, Transform
from .. import precisions
from ..jax import programs as of_jax
from ..jax.losses import cross_entropy
from ..jax.products import Products
from ..jax.training import functional_training, make_optimizer

#: What Flax calls running statistics that a specification's name ends with.
STATISTICS = {"mean": "mean", "variance": "var"}
#: What Flax calls an array that a specification's name ends with.
KINDS = {"weight": "kernel", "bias": "bias", "scale": "scale", "shift": "bias", "embedding": "embedding", **STATISTICS}


def training(models, paths, parameters, transform, settings, kept=None, **found):
    """Make the program that trains a model from a batch's inputs to logits on the mean cross-entropy.

    ``models`` is {"nnx": a function that makes a model of nnx from nnx.Rngs, "linen": a model of linen}. ``paths`` maps
    the specification's names to the paths of the arrays there, which are the same in both. ``kept`` are the running
    statistics at first, {name: array}, if there are any: a step updates them without a gradient. ``found`` are settings
    that the program has, such as ``layout``.
    """
    make = with_objects if transform.mode == "nnx" else with_functions
    return make(models, paths, parameters, transform, settings, kept or {}, found)


def layer_type(transform):
    """Return the ``dtype`` of layers, in which they compute; None leaves it to their input and parameters."""
    return jnp.bfloat16 if transform.precision == precisions.MIXED else None


def with_functions(models, paths, parameters, transform, settings, kept, found):
    predict = functional(models, paths, transform.mode, kept)

    def loss(parameters, inputs, labels):
        return cross_entropy(predict(parameters, inputs), labels)

    def keeping(parameters, kept, inputs, labels):
        logits, new = predict(dict(parameters, **kept), inputs)
        return cross_entropy(logits, labels), new

    given = (keeping, {"kept": kept}) if kept else (loss, {"outputs": predict})
    return functional_training(given[0], parameters, jitted(transform), settings, casts=False, **given[1], **found)


def with_objects(models, paths, parameters, transform, settings, kept, found):
    """Train a model and an nnx.Optimizer that nnx.jit takes and updates, as Flax's tutorials do."""
    model = with_values(models["nnx"], paths, dict(parameters, **kept))
    optimizer = nnx.Optimizer(model, make_optimizer(settings), wrt=nnx.Param)
    initial = jax.tree_util.tree_map(jnp.copy, (nnx.state(model), nnx.state(optimizer)))

    products = Products(jax.grad(pure_loss(models, paths, kept)), transform.precision)

    def update(model, optimizer, inputs, labels):
        products.note(parameters, kept, inputs, labels)
        value, gradients = nnx.value_and_grad(lambda model: cross_entropy(model(inputs), labels))(model)
        optimizer.update(model, gradients)
        return value

    given = [None]

    def in_force():
        # A donated array is deleted by the step.
        return dict(
            found, **products.settings(), **{"donation": given[0].is_deleted(), "fused optimizer": "by the compiler"}
        )

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
        return named(paths, paths, nnx.to_pure_dict(nnx.state(model)))

    reset()
    predict = nnx.jit(lambda model, inputs: model(inputs))
    # With running statistics, the model in training would update them.
    evaluate = None if kept else lambda inputs: predict(model, inputs)
    return Program(lambda *batch: run((batch,)), current, reset, run, evaluate)


def pure_loss(models, paths, kept):
    """Return the loss of a model of nnx as a function of its parameters, running statistics and a batch."""
    predict = functional(models, paths, "nnx-functional", kept)

    def loss(parameters, kept, inputs, labels):
        found = predict(dict(parameters, **kept), inputs)
        return cross_entropy(found[0] if kept else found, labels)

    return loss


def inference(models, paths, parameters, transform, output, **found):
    """Make the program of a model that maps a batch's input to what is called ``output``; see ``training``."""
    if transform.mode != "nnx":
        predict = functional(models, paths, transform.mode)

        def called(parameters, inputs):
            return {output: predict(parameters, inputs)}

        return of_jax.inference(called, parameters, jitted(transform), **found)
    model = with_values(models["nnx"], paths, parameters)
    infer = transform(lambda model, inputs: {output: model(inputs)}, settings=lambda: found, jit=nnx.jit)
    return Program(lambda *batch: infer(model, *batch))


def functional(models, paths, mode, kept=()):
    """Return ``predict(values, inputs)`` of a model of linen, or of nnx with its state split off.

    With names of running statistics, ``kept``, it returns (outputs, {name: new value}).
    """
    apply = linen_apply(models["linen"], paths) if mode == "linen" else nnx_apply(models["nnx"], paths)

    def keeping(values, inputs):
        outputs, new = apply(values, inputs)
        return outputs, named(kept, paths, new)

    return keeping if kept else lambda values, inputs: apply(values, inputs)[0]


def linen_apply(model, paths):
    """Return ``apply(values, inputs)``, which returns outputs and, by their paths, the new running statistics."""
    statistics = {name for name, path in paths.items() if path[-1] in STATISTICS.values()}

    def apply(values, inputs):
        variables = {"params": nested(paths, values, paths.keys() - statistics)}
        variables["batch_stats"] = nested(paths, values, statistics)
        outputs, new = model.apply(variables, inputs, mutable=["batch_stats"])
        return outputs, new["batch_stats"] if statistics else {}

    return apply


def nnx_apply(make, paths):
    """Return the same of a model that ``make`` makes."""
    definition, state = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(0))))

    def apply(values, inputs):
        given = nnx.clone(state, variables=True)
        nnx.replace_by_pure_dict(given, nested(paths, values, values))
        model = nnx.merge(definition, given)
        outputs = model(inputs)
        return outputs, nnx.to_pure_dict(nnx.state(model, nnx.BatchStat))

    return apply


def nested(paths, values, names):
    """Return the values of these names by their paths, as nested dictionaries."""
    return traverse_util.unflatten_dict({paths[name]: values[name] for name in names})


def named(names, paths, found):
    """Return the values of these names out of nested dictionaries."""
    flat = traverse_util.flatten_dict(found)
    return {name: flat[paths[name]] for name in names}


def with_values(make, paths, values):
    """Make a model of nnx with copies of the specification's arrays.

    Its own initial values are not computed: the functions that draw them would be compiled for each shape.
    """
    model = nnx.eval_shape(lambda: make(nnx.Rngs(0)))
    state = nnx.state(model)
    nnx.replace_by_pure_dict(state, nested(paths, jax.tree_util.tree_map(jnp.copy, values), values))
    nnx.update(model, state)
    return model


def jitted(transform):
    """Return the transform of JAX's own mode ``jit``, for programs that are functions of their parameters."""
    return Transform("jit", transform, transform.part, transform.precision)
