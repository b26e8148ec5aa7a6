"""Implements resnet18-train in Keras: the network of resnet18, with running variances that are unbiased."""

from __future__ import annotations

from keras import layers

from ...frameworks.keras.adapter import training
from ...frameworks.keras.versions import THREE, ops
from ..lenet_train.keras import layout
from ..resnet18.keras import named_weights, network
from . import OPTIMIZER, initial_state


class Unbiased(layers.BatchNormalization):
    """Keeps unbiased variances, as the specification and PyTorch do. Keras 3 keeps biased ones."""

    def call(self, inputs, training=None, mask=None):
        if not training:
            return super().call(inputs, training, mask)
        # In mixed precision Keras, too, normalises in float32.
        inputs = ops.cast(inputs, "float32") if self.compute_dtype == "bfloat16" else inputs
        # Keras' own list of them ends a graph of PyTorch's compiler.
        axes = (0, 1, 2) if self.axis == 3 else (0, 2, 3)
        images, height, width = (inputs.shape[axis] for axis in axes)
        count = images * height * width
        mean, variance = ops.moments(inputs, axes)
        self._move(self.moving_mean, mean)
        self._move(self.moving_variance, variance * (count / (count - 1)))
        normal = ops.batch_normalization(inputs, mean, variance, self.axis, self.beta, self.gamma, self.epsilon)
        return ops.cast(normal, self.compute_dtype)

    def _move(self, running, value):
        running.assign(running * self.momentum + value * (1 - self.momentum))


def build(size, parameters, batch, transform):
    # The kernel that Keras 2 calls returns an unbiased variance.
    model = network(size, Unbiased if THREE else layers.BatchNormalization)
    values = dict(parameters, **initial_state(size))
    return training(model, values, transform, OPTIMIZER, named_weights(size, model), layout())
