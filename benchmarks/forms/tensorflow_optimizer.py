"""Forms of an optimizer's step in TensorFlow: how it is called, how gradients are given, the operations of Adam."""

from __future__ import annotations

from unittest import mock

import tensorflow as tf

from bench.frameworks.tensorflow import optimizers, programs
from bench.frameworks.tensorflow.optimizers import KERNELS, Optimizer, clear, zeros
from bench.program import Transform

MODULE = "bench.frameworks.tensorflow."
ADAM = optimizers.adam


def signed(transform):
    """Return a transform after which all gradients are one argument, with the signature of the first call."""

    def apply(function, **options):
        made = []

        def step(loss, *gradients):
            if not made:
                signature = [tf.TensorSpec.from_tensor(loss), tuple(map(tf.TensorSpec.from_tensor, gradients))]
                made.append(transform(lambda loss, given: function(loss, *given), signature=signature, **options))
            return made[0](loss, gradients)

        return step

    return Transform(transform.mode, apply, transform.part)


def constants_once(variables, settings):
    """Make Adam whose kernels share one tensor for each number."""
    made = ADAM(variables, settings)

    def adapt(gradients):
        numbers = {}

        def shared(value):
            return numbers.setdefault(value, tf.constant(value)) if isinstance(value, float) else value

        def kernel(**given):
            return ResourceApplyAdam(**{name: shared(value) for name, value in given.items()})

        ResourceApplyAdam = tf.raw_ops.ResourceApplyAdam
        with mock.patch.object(tf.raw_ops, "ResourceApplyAdam", kernel):
            made.apply(gradients)

    return made._replace(apply=adapt)


def composed(variables, settings):
    """Make Adam of assignments, as optimizers of Keras are, with the corrections as two numbers."""
    decay = settings["learning_rate"] * settings.get("weight_decay", 0.0)
    rate, beta1, beta2 = settings["learning_rate"], settings["beta1"], settings["beta2"]
    means, variances, count = zeros(variables), zeros(variables), tf.Variable(0.0, trainable=False)

    def adapt(gradients):
        count.assign_add(1.0)
        root = tf.sqrt(1.0 - tf.pow(beta2, count))
        step, epsilon = rate * root / (1.0 - tf.pow(beta1, count)), settings["epsilon"] * root
        for variable, mean, variance, gradient in zip(variables, means, variances, gradients, strict=True):
            new_mean = beta1 * mean + (1.0 - beta1) * gradient
            new_variance = beta2 * variance + (1.0 - beta2) * tf.square(gradient)
            mean.assign(new_mean)
            variance.assign(new_variance)
            variable.assign((1.0 - decay) * variable - step * new_mean / (tf.sqrt(new_variance) + epsilon))

    return Optimizer(adapt, lambda: clear([*means, *variances, count]), KERNELS, fused=False)


def decayed_by_factor(variables, settings):
    """Make AdamW whose kernel follows an assignment of the parameter times a number."""
    factor = 1.0 - settings["learning_rate"] * settings["weight_decay"]
    made = ADAM(variables, {**settings, "weight_decay": 0.0})

    def adapt(gradients):
        for variable in variables:
            tf.raw_ops.AssignVariableOp(resource=variable.handle, value=factor * variable)
        made.apply(gradients)

    return made._replace(apply=adapt)


class Tupled(programs.OneDevice):
    """Gives a training step its batch as one argument."""

    def stepping(self, update, transform_step):
        transformed = transform_step(lambda batch: update(*batch))
        return lambda *batch: transformed(batch)


GROUPING = "bench.workloads.optimizer_step_adamw.tensorflow:grouping"
FORMS = {
    "concrete": {MODULE + "compiler:CONCRETE": ("function", "xla")},
    "batch in a tuple": {MODULE + "programs:OneDevice": Tupled},
    "argument for each": {GROUPING: lambda transform: transform},
    "signed": {GROUPING: signed},
    "constants once": {MODULE + "optimizers:adam": constants_once},
    "composed": {MODULE + "optimizers:adam": composed},
    "decayed by factor": {MODULE + "optimizers:adam": decayed_by_factor},
    "keras": {MODULE + "programs:make_optimizer": lambda mode, *given: optimizers.with_keras(*given)},
    # Keras adds its epsilon before the bias correction; ours, in the mode eager, is scaled in every step.
    "Keras' epsilon": {MODULE + "optimizers:math": mock.Mock(sqrt=lambda correction: 1.0)},
}
