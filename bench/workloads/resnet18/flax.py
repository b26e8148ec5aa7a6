"""Implements resnet18 in Flax: convolutions and normalisations of nnx and of linen, in NHWC."""

from __future__ import annotations

from flax import linen, nnx

from ...frameworks.flax.adapter import KINDS, inference
from .. import batch_norm, resnet

#: Of both kinds of normalisations. The fast variance, the mean of the squares less the squared mean, is less exact.
NORM = {"momentum": 1 - batch_norm.MOMENTUM, "epsilon": batch_norm.EPSILON, "use_fast_variance": False}


def unbiased(before, after, images):
    """Return the new running variance with the unbiased variance of ``images``; ``after`` has the biased one."""
    count = images.size // images.shape[-1]
    kept = NORM["momentum"] * before
    return kept + (after - kept) * (count / (count - 1))


class BatchNorm(nnx.BatchNorm):
    def __call__(self, images):
        before = self.var[...]
        normal = super().__call__(images)
        if not self.use_running_average:
            self.var[...] = unbiased(before, self.var[...], images)
        return normal


class LinenBatchNorm(linen.BatchNorm):
    def __call__(self, images):
        before = self.get_variable("batch_stats", "var")
        normal = super().__call__(images)
        if not self.use_running_average:
            after = self.get_variable("batch_stats", "var")
            self.put_variable("batch_stats", "var", unbiased(before, after, images))
        return normal


def settings(layer):
    """Return the settings of both kinds of convolutions."""
    sides = (layer.kernel, layer.kernel)
    return {"kernel_size": sides, "strides": layer.stride, "padding": layer.kernel // 2, "use_bias": False}


class Unit(nnx.Module):
    """A convolution and its normalisation."""

    def __init__(self, layer, train, dtype, rngs):
        self.convolution = nnx.Conv(layer.inputs, layer.outputs, **settings(layer), dtype=dtype, rngs=rngs)
        self.normal = BatchNorm(layer.outputs, use_running_average=not train, **NORM, dtype=dtype, rngs=rngs)

    def __call__(self, images):
        return self.normal(self.convolution(images))


class LinenUnit(linen.Module):
    layer: resnet.Convolution
    train: bool
    dtype: object

    @linen.compact
    def __call__(self, images):
        dtype = self.dtype
        convolved = linen.Conv(self.layer.outputs, **settings(self.layer), dtype=dtype, name="convolution")(images)
        return LinenBatchNorm(not self.train, **NORM, dtype=dtype, name="normal")(convolved)


def classify(size, unit, dense, images):
    """Compute the logits; ``unit(layer)`` gives the convolution and normalisation of a layer."""
    stem = resnet.stem(size)
    hidden = linen.relu(unit(stem)(images))
    if stem.stride == 2:
        hidden = linen.max_pool(hidden, (3, 3), (2, 2), ((1, 1), (1, 1)))
    for branch, shortcut in resnet.blocks(size):
        kept = hidden if shortcut is None else unit(shortcut)(hidden)
        for layer in branch[:-1]:
            hidden = linen.relu(unit(layer)(hidden))
        hidden = linen.relu(unit(branch[-1])(hidden) + kept)
    return dense(hidden.mean(axis=(1, 2)))


def attribute(name):
    """Return what a network calls the part with a name of the specification."""
    return name.replace(".", "_")


class ResNet(nnx.Module):
    def __init__(self, size, train, dtype, rngs):
        self.size = tuple(size.items())
        for layer, _ in resnet.convolutions(size):
            setattr(self, attribute(layer.name), Unit(layer, train, dtype, rngs))
        self.dense = nnx.Linear(resnet.features(size), size["classes"], dtype=dtype, rngs=rngs)

    def __call__(self, images):
        return classify(dict(self.size), lambda layer: getattr(self, attribute(layer.name)), self.dense, images)


class LinenResNet(linen.Module):
    size: dict
    train: bool
    dtype: object

    @linen.compact
    def __call__(self, images):
        def unit(layer):
            return LinenUnit(layer, self.train, self.dtype, name=attribute(layer.name))

        dense = linen.Dense(self.size["classes"], dtype=self.dtype, name="dense")
        return classify(self.size, unit, dense, images)


def described(size, names, train, dtype=None):
    """Return the models and the paths of their arrays; see ``training``."""
    models = {"nnx": lambda rngs: ResNet(size, train, dtype, rngs), "linen": LinenResNet(size, train, dtype)}
    paths = {}
    for name in names:
        place, kind = name.rsplit(".", 1)
        within = () if place == "dense" else ("convolution" if kind == "weight" else "normal",)
        paths[name] = (attribute(place), *within, KINDS[kind])
    return models, paths


def build(size, parameters, batch, transform):
    return inference(*described(size, parameters, train=False), parameters, transform, "logits", layout="NHWC")
