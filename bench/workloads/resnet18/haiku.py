"""Implements resnet18 in Haiku: hk.Conv2D and hk.BatchNorm in NHWC, which resnet18-train uses too.

hk.nets.ResNet pads as "SAME" does, which is not symmetric where the stride is 2, and always has a pooling.
"""

from __future__ import annotations

import functools

import haiku as hk

from ...frameworks.haiku.adapter import inference
from .. import batch_norm, resnet
from .jax import features

#: What the module of a convolution is continued with, and what the specification's name ends with is called there.
PLACES = {"weight": ("", "w"), "scale": ("_norm", "scale"), "shift": ("_norm", "offset")}
#: The same for the running statistics.
AVERAGES = {"mean": ("_norm/~/mean_ema", "average"), "variance": ("_norm/~/var_ema", "average")}


def predict(size, images, training=False):
    """Compute the logits; when ``training``, the images' own statistics normalise and change the running ones."""

    def apply(layer, images):
        name, edges = flat(layer.name), ((layer.kernel // 2,) * 2,) * 2
        convolve = hk.Conv2D(layer.outputs, layer.kernel, layer.stride, padding=edges, with_bias=False, name=name)
        normalise = hk.BatchNorm(True, True, 1 - batch_norm.MOMENTUM, batch_norm.EPSILON, name=name + "_norm")
        return normalise(convolve(images), training)

    return hk.Linear(size["classes"], name="dense")(features(size, images, apply))


def flat(name):
    """Return the name that a layer's module has, which takes no dots."""
    return name.replace(".", "_")


def paths(size):
    """Return the paths of the parameters, and of the running statistics, which Haiku holds as state."""
    found, states = {"dense.weight": ("dense", "w"), "dense.bias": ("dense", "b")}, {}
    for layer, _ in resnet.convolutions(size):
        for places, named in ((PLACES, found), (AVERAGES, states)):
            for part, (suffix, kind) in places.items():
                named[layer.name + "." + part] = (flat(layer.name) + suffix, kind)
    return found, states


def shaped(values):
    """Give what belongs to a normalisation the axes of images, as hk.BatchNorm has it."""
    return {name: value.reshape(1, 1, 1, -1) if name.endswith(resnet.NORM) else value for name, value in values.items()}


def build(size, parameters, batch, transform):
    found, states = paths(size)
    model = functools.partial(predict, size)
    return inference(model, found, shaped(parameters), transform, "logits", states, layout="NHWC")
