"""Makes the programs that TensorFlow's users write: functions of variables, and custom training loops."""

from __future__ import annotations

import tensorflow as tf

from ...program import Program


def inference(function, parameters, transform, layout=None):
    """Make the program of ``function(variables, *batch) -> {name: tensor}``; parameters are variables.

    ``layout`` is that of the function's convolutions, if it has any: NHWC or NCHW.
    """
    variables = {name: tf.Variable(value, trainable=False, name=name) for name, value in parameters.items()}
    in_force = {"layout": layout} if layout else {}
    transformed = transform(lambda *batch: function(variables, *batch), settings=lambda: in_force)
    return Program(lambda *batch: transformed(*batch))


def make_optimizer(variables, settings):
    """Return ``(apply(gradients), state variables)`` for a specification's ``OPTIMIZER``.

    The fused training kernels are used, as tf.keras did before version 3; Keras 3 composes the update of small
    operations.
    """
    rate = settings["learning_rate"]
    names = list(variables)
    if settings["name"] == "sgd" and not settings.get("momentum"):

        def descend(gradients):
            for name, gradient in zip(names, gradients):
                tf.raw_ops.ResourceApplyGradientDescent(var=variables[name].handle, alpha=rate, delta=gradient)

        return descend, []
    first = [tf.Variable(tf.zeros_like(variables[name]), trainable=False) for name in names]
    if settings["name"] == "sgd":

        def accelerate(gradients):
            for name, accumulated, gradient in zip(names, first, gradients):
                tf.raw_ops.ResourceApplyMomentum(
                    var=variables[name].handle,
                    accum=accumulated.handle,
                    lr=rate,
                    grad=gradient,
                    momentum=settings["momentum"],
                )

        return accelerate, first
    if settings["name"] == "adam":
        second = [tf.Variable(tf.zeros_like(variables[name]), trainable=False) for name in names]
        count = tf.Variable(0.0, trainable=False)

        def adapt(gradients):
            count.assign_add(1.0)
            power1, power2 = tf.pow(settings["beta1"], count), tf.pow(settings["beta2"], count)
            # The kernel adds epsilon before the bias correction (Kingma & Ba, end of section 2), the others after it.
            epsilon = settings["epsilon"] * tf.sqrt(1.0 - power2)
            for name, mean, variance, gradient in zip(names, first, second, gradients):
                tf.raw_ops.ResourceApplyAdam(
                    var=variables[name].handle, m=mean.handle, v=variance.handle, beta1_power=power1,
                    beta2_power=power2, lr=rate, beta1=settings["beta1"], beta2=settings["beta2"], epsilon=epsilon,
                    grad=gradient,
                )  # fmt: skip

        return adapt, [*first, *second, count]
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))


def variable_training(loss, parameters, transform, settings, layout=None):
    """Make the program that trains ``parameters`` on ``loss(variables, *batch)``.

    The whole step (forward, backward, optimizer) runs in the cell's mode, as a custom training loop does it.
    ``layout`` is that of the loss's convolutions, if it has any: NHWC or NCHW.
    """
    variables = {name: tf.Variable(value, name=name) for name, value in parameters.items()}
    apply, state = make_optimizer(variables, settings)
    trained = list(variables.values())

    def update(*batch):
        with tf.GradientTape() as tape:
            value = loss(variables, *batch)
        apply(tape.gradient(value, trained))
        return value

    in_force = {"fused optimizer": "by the compiler" if transform.mode == "xla" else True}
    if layout:
        in_force["layout"] = layout
    transformed = transform(update, training=True, settings=lambda: in_force, part="step")

    def step(*batch):
        return {"loss": transformed(*batch)}

    def reset():
        for name, variable in variables.items():
            variable.assign(parameters[name])
        for variable in state:
            variable.assign(tf.zeros_like(variable))

    return Program(step, lambda: variables, reset)
