"""Makes the programs that TensorFlow's users write: functions of variables, and custom training loops."""

from __future__ import annotations

import contextlib
import functools

import tensorflow as tf

from ...program import Program, Unsupported
from .. import halves, precisions
from ..forms import given
from . import mirrored
from .clustering import WHOLE
from .compiler import FROZEN, GRAPHS
from .optimizers import make_optimizer
from .products import Products

#: Why weights cannot be constants: programs that differentiate with respect to them, and the kernels of an ocean model.
DIFFERENTIATED = "gradients are taken of weights that change"
GRID = "its parameters are a grid, of which a frozen graph computes parts once"


def inference(function, parameters, transform, layout=None, attention=None, not_frozen=""):
    """Make the program of ``function(variables, *batch) -> {name: tensor}``; parameters are variables.

    In mode function-frozen they are constants of the graph, unless ``not_frozen`` says why they cannot be.

    ``layout`` is that of the function's convolutions, if it has any: NHWC or NCHW. ``attention`` is the form of its
    attention: fused or composed.
    """
    if transform.mode == mirrored.MODE:
        halves.verify_program(transform.mode, training=False)
    in_force = given(layout=layout, attention=attention)
    if transform.mode == FROZEN:
        if not_frozen:
            raise Unsupported(not_frozen + ": see function")
        graphs = []
        return naming_once(with_constants(function, parameters, graphs), transform, in_force, graphs)
    variables = {name: tf.Variable(value, trainable=False, name=name) for name, value in parameters.items()}
    # TensorFlow Lite, whose models name their outputs, also runs these functions.
    if transform.mode in GRAPHS:
        return naming_once(lambda *batch: function(variables, *batch), transform, in_force)
    return Program(transform(lambda *batch: function(variables, *batch), settings=lambda: in_force))


def with_constants(function, parameters, graphs):
    """Give ``function`` its weights as constants of the graph that is traced, which is added to ``graphs``.

    Raises Unsupported where it has none. TensorFlow's own convert_variables_to_constants_v2, which has no public name,
    changes a graph of variables instead. In 2.21 it fails where a loop gathers rows of one, as in kv-decode.
    """
    if not parameters:
        raise Unsupported("mode function-frozen makes constants of weights, and this has none: see function")
    arrays = {name: value.numpy() for name, value in parameters.items()}

    def compute(*batch):
        graphs.append(tf.compat.v1.get_default_graph())
        return function({name: tf.constant(array) for name, array in arrays.items()}, *batch)

    return compute


def naming_once(function, transform, in_force, frozen=()):
    """Make the program of a function whose graph returns tensors without their names, which a run adds at its end.

    The settings say whether ``frozen`` graphs take nothing but the batch, if any are given. A dictionary that each call
    returns takes 2 to 4 of the 110 µs of the smallest kernel.
    """
    names = []

    def unnamed(*batch):
        found = function(*batch)
        if not isinstance(found, dict):
            # The transform of this program calls it several times a step, and names what comes of that.
            return found
        names[:] = found
        values = tuple(found.values())
        return values if len(values) > 1 else values[0]

    def settings():
        return dict(in_force, **({"frozen weights": not any(graph.captures for graph in frozen)} if frozen else {}))

    transformed = transform(unnamed, settings=settings)

    def run(batches):
        for batch in batches:
            outputs = transformed(*batch)
        if not names:
            return outputs
        return dict(zip(names, outputs if len(names) > 1 else (outputs,)))

    return Program(lambda *batch: run((batch,)), run=run)


def variable_training(
    loss, parameters, transform, settings, layout=None, attention=None, kept=None, differentiate=None, outputs=None
):
    """Make the program that trains ``parameters`` on ``loss(variables, *batch)``.

    The whole step (forward, backward, optimizer) runs in the cell's mode, as a custom training loop does it.
    ``layout`` and ``attention`` are as for ``inference``. ``kept`` is {name: array} of variables that ``loss`` assigns
    itself, such as running statistics, which are those of all devices (``mirrored.moments_of_all``).
    ``differentiate(*batch)``, in place of a loss, returns (loss, gradients).
    ``outputs(variables, *inputs)`` gives the logits from which a training to a result is evaluated.
    """
    devices = devices_of(transform.mode, whole=differentiate is None)
    if transform.precision == precisions.MIXED:
        loss = mixing(loss, parameters)
    initial = dict(parameters, **(kept or {}))
    with devices.scope():
        variables = {name: tf.Variable(value, name=name) for name, value in parameters.items()}
        trained = list(variables.values())
        variables.update((name, devices.alike(value, name)) for name, value in (kept or {}).items())
        optimizer = make_optimizer(transform.mode, trained, settings)

    def by_tape(*batch):
        with tf.GradientTape() as tape:
            value = loss(variables, *batch)
        return value, tape.gradient(value, trained)

    products = Products(differentiate or by_tape, transform.precision)
    averaged = devices.averaging(products)

    def update(*batch):
        value, gradients = averaged(*batch)
        optimizer.apply(gradients)
        return value

    fused = "by the compiler" if transform.mode in WHOLE else optimizer.fused
    in_force = dict(
        given(layout=layout, attention=attention),
        **{"optimizer": optimizer.name, "fused optimizer": fused},
        **devices.settings(trained),
    )
    options = {"training": True, "settings": lambda: dict(in_force, **products.settings()), "part": "step"}
    transformed = devices.stepping(update, functools.partial(transform, **options))

    def step(*batch):
        return {"loss": transformed(*batch)}

    def run(batches):
        for batch in batches:
            value = transformed(*batch)
        return {"loss": value}

    def reset():
        for name, variable in variables.items():
            variable.assign(initial[name])
        optimizer.reset()

    # In whatever mode a graph: it is no part of what is timed.
    evaluate = tf.function(functools.partial(outputs, variables)) if outputs is not None else None
    return Program(step, lambda: variables, reset, run, evaluate)


def cross_entropy(labels, logits):
    """Return the mean cross-entropy, in float32 or wider: logits of a mixed precision are narrow."""
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=wide(logits)))


def wide(value):
    """Return a tensor or variable of mixed precision in float32.

    A bias is added to wide logits, because its gradient is a sum over all rows: in bfloat16 that of lstm-lm-train, size
    small, was a quarter off in a tf.function.
    """
    return tf.cast(value, tf.float32) if value.dtype == tf.bfloat16 else value


def mixing(loss, parameters):
    """Return a ``loss`` that casts the named ``parameters`` and the batch: gradients and updates stay in float32.

    What is kept beside the parameters is assigned, and is not cast.
    """
    cast = list(filter(precisions.is_narrowed, parameters))

    def mixed(variables, *batch):
        return loss(dict(variables, **narrow({name: variables[name] for name in cast})), *narrow(batch))

    return mixed


def narrow(values):
    """Cast what is float32 to bfloat16."""
    return tf.nest.map_structure(
        lambda value: tf.cast(value, tf.bfloat16) if value.dtype == tf.float32 else value, values
    )


def devices_of(mode, whole):
    """Return the devices of a mode; ``whole`` says whether a step is the mean of those of a batch's parts."""
    if mode != mirrored.MODE:
        return OneDevice()
    halves.verify_program(mode, training=True, whole=whole)
    return mirrored.Mirrors()


class OneDevice:
    """The device on which parameters lie, where a step is computed as a whole."""

    scope = contextlib.nullcontext

    def alike(self, value, name):
        return tf.Variable(value, name=name, trainable=False)

    def averaging(self, differentiate):
        return differentiate

    def stepping(self, update, transform_step):
        return transform_step(update)

    def settings(self, variables):
        return {}
