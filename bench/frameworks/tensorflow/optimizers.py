"""Makes the optimizers of the training loops: Keras', which users take, and TensorFlow's fused training kernels."""

from __future__ import annotations

import math
from typing import Any, Callable, List, NamedTuple

import tensorflow as tf

#: What the setting "optimizer" says.
KERAS, KERNELS = "keras", "training kernels"


class Optimizer(NamedTuple):
    """An optimizer of given variables."""

    #: Apply a list of gradients, one for each variable, in their order.
    apply: Callable[[List[Any]], None]
    #: Set its state to what it was before the first step.
    reset: Callable[[], None]
    #: KERAS or KERNELS.
    name: str
    #: Whether one kernel updates a variable.
    fused: bool


def make_optimizer(mode, variables, settings):
    """Make the optimizer of a list of variables that a specification's ``OPTIMIZER`` names, as ``mode`` is best used.

    Op by op it is Keras' own, as in Keras' guides to training loops. In the other modes it is TensorFlow's training
    kernels, which tf.keras called before version 2.11 and tf.compat.v1.train still calls. With Keras' Adam a step of
    transformer-train took up to 1.2 times as long in a tf.function and 1.1 times with XLA; SGD made no difference.
    """
    make = with_keras if mode == "eager" else with_kernels
    return make(variables, settings)


def with_keras(variables, settings):
    """Make an optimizer of tf.keras, which is Keras 3 since TensorFlow 2.16."""
    rate = settings["learning_rate"]
    if settings["name"] == "sgd":
        optimizer = tf.keras.optimizers.SGD(rate, momentum=settings.get("momentum", 0.0))
    elif settings["name"] == "adam":
        optimizer = tf.keras.optimizers.Adam(rate, beta_1=settings["beta1"], beta_2=settings["beta2"])
    elif settings["name"] == "adamw":
        optimizer = tf.keras.optimizers.AdamW(
            rate, beta_1=settings["beta1"], beta_2=settings["beta2"], weight_decay=settings["weight_decay"]
        )
    else:
        raise ValueError("unknown optimizer {!r}".format(settings["name"]))
    # Before Keras 2.11 optimizers had no build, and called the training kernels.
    composed = hasattr(optimizer, "build")
    if composed:
        optimizer.build(variables)
    steps = [0]

    def apply(gradients):
        if settings["name"] != "sgd":
            # Keras adds epsilon before the bias correction, the specification and the other frameworks after it.
            steps[0] += 1
            optimizer.epsilon = settings["epsilon"] * math.sqrt(1 - settings["beta2"] ** steps[0])
        optimizer.apply_gradients(zip(gradients, variables))

    def reset():
        steps[0] = 0
        # A method before Keras 2.11. The learning rate is a variable, too, but no state.
        found = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
        clear(variable for variable in found if "learning_rate" not in variable.name)

    return Optimizer(apply, reset, KERAS, fused=not composed)


def with_kernels(variables, settings):
    """Make an optimizer of the kernels that update a variable and its state at once."""
    if settings["name"] in ("adam", "adamw"):
        return adam(variables, settings)
    if settings["name"] != "sgd":
        raise ValueError("unknown optimizer {!r}".format(settings["name"]))
    rate, momentum = settings["learning_rate"], settings.get("momentum")
    if not momentum:

        def descend(gradients):
            for variable, gradient in zip(variables, gradients):
                tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)

        return Optimizer(descend, lambda: None, KERNELS, fused=True)
    velocities = zeros(variables)

    def accelerate(gradients):
        for variable, velocity, gradient in zip(variables, velocities, gradients):
            tf.raw_ops.ResourceApplyMomentum(
                var=variable.handle, accum=velocity.handle, lr=rate, grad=gradient, momentum=momentum
            )

    return Optimizer(accelerate, lambda: clear(velocities), KERNELS, fused=True)


def adam(variables, settings):
    """Make Adam of its training kernel, or AdamW, whose decay of the parameters TensorFlow has no kernel for."""
    decay = settings["learning_rate"] * settings.get("weight_decay", 0.0)
    rate, beta1, beta2 = settings["learning_rate"], settings["beta1"], settings["beta2"]
    means, variances, count = zeros(variables), zeros(variables), tf.Variable(0.0, trainable=False)

    def adapt(gradients):
        # The operations behind assign_add and assign_sub, which refuse a variable with a copy on every device.
        tf.raw_ops.AssignAddVariableOp(resource=count.handle, value=1.0)
        power1, power2 = tf.pow(beta1, count), tf.pow(beta2, count)
        # The kernel adds epsilon before the bias correction (Kingma & Ba, end of section 2), the others after it.
        epsilon = settings["epsilon"] * tf.sqrt(1.0 - power2)
        for variable, mean, variance, gradient in zip(variables, means, variances, gradients):
            if decay:
                tf.raw_ops.AssignSubVariableOp(resource=variable.handle, value=decay * variable)
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle, m=mean.handle, v=variance.handle, beta1_power=power1, beta2_power=power2, lr=rate,
                beta1=beta1, beta2=beta2, epsilon=epsilon, grad=gradient,
            )  # fmt: skip

    return Optimizer(adapt, lambda: clear([*means, *variances, count]), KERNELS, fused=True)


def zeros(variables):
    return [tf.Variable(tf.zeros_like(variable), trainable=False) for variable in variables]


def clear(variables):
    for variable in variables:
        variable.assign(tf.zeros(variable.shape, variable.dtype))
