"""Makes runs of networks of flax: of linen those of models_jax, of nnx the same networks as nnx's guides write modules.

The running variance of the residual network is not unbiased, as flax has it, and flax' attention has biases.
"""

from __future__ import annotations

import models_jax
import optax
import with_nnx
from flax import nnx
from repeated import repeated

from bench.workloads import batch_norm, resnet
from bench.workloads.gpt_train import OPTIMIZER as ADAMW
from bench.workloads.resnet18_train import OPTIMIZER as SGD


def runs(workload, size, mode, batch):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch."""
    if mode == "linen":
        found = models_jax.runs(workload, size, mode, batch)
        return {name: run for name, run in found.items() if name.startswith("flax")}
    rngs, train = nnx.Rngs(0), workload.endswith("-train")
    model = ResNet(size, rngs) if workload.startswith("resnet") else with_nnx.LanguageModel(size, rngs)
    if not train:
        model.eval()
        return {"flax.nnx": repeated(with_nnx.inferred(model, mode, batch))}
    optimizer = nnx.Optimizer(model, optimizers()[workload.partition("-")[0]], wrt=nnx.Param)
    return {"flax.nnx": repeated(with_nnx.trained(model, optimizer, mode, batch))}


def optimizers():
    sgd = optax.sgd(SGD["learning_rate"], momentum=SGD["momentum"])
    adamw = optax.adamw(
        ADAMW["learning_rate"], b1=ADAMW["beta1"], b2=ADAMW["beta2"], weight_decay=ADAMW["weight_decay"]
    )
    return {"resnet18": sgd, "resnet50": sgd, "gpt": adamw}


def norm(channels, rngs):
    return nnx.BatchNorm(channels, momentum=1 - batch_norm.MOMENTUM, epsilon=batch_norm.EPSILON, rngs=rngs)


class Block(nnx.Module):
    """A block of two convolutions, or of three with a bottleneck."""

    def __init__(self, inputs, filters, stride, bottleneck, rngs):
        def convolve(*channels, side=3, strides=1):
            edge = [(side // 2,) * 2] * 2
            return nnx.Conv(*channels, (side, side), strides, padding=edge, use_bias=False, rngs=rngs)

        outputs = filters * resnet.EXPANSION if bottleneck else filters
        if bottleneck:
            layers = [convolve(inputs, filters, side=1), norm(filters, rngs), nnx.relu]
            layers += [convolve(filters, filters, strides=stride), norm(filters, rngs), nnx.relu]
            layers += [convolve(filters, outputs, side=1), norm(outputs, rngs)]
        else:
            layers = [convolve(inputs, filters, strides=stride), norm(filters, rngs), nnx.relu]
            layers += [convolve(filters, filters), norm(filters, rngs)]
        self.branch = nnx.Sequential(*layers)
        self.project = stride > 1 or inputs != outputs
        if self.project:
            self.shortcut = nnx.Sequential(convolve(inputs, outputs, side=1, strides=stride), norm(outputs, rngs))

    def __call__(self, inputs):
        kept = self.shortcut(inputs) if self.project else inputs
        return nnx.relu(self.branch(inputs) + kept)


class ResNet(nnx.Module):
    """The network of the example imagenet, with the stem of a size."""

    def __init__(self, size, rngs):
        bottleneck, repeats = resnet.NETWORKS[size["depth"]]
        stem, inputs = resnet.stem(size), size["width"]
        edge, sides = [(stem.kernel // 2,) * 2] * 2, (stem.kernel,) * 2
        self.stem = nnx.Conv(stem.inputs, inputs, sides, stem.stride, padding=edge, use_bias=False, rngs=rngs)
        self.norm, self.pools, blocks = norm(inputs, rngs), stem.stride == 2, []
        for stage, count in enumerate(repeats):
            filters = size["width"] * 2**stage
            for index in range(count):
                blocks.append(Block(inputs, filters, 2 if stage and not index else 1, bottleneck, rngs))
                inputs = filters * resnet.EXPANSION if bottleneck else filters
        self.blocks = nnx.Sequential(*blocks)
        self.dense = nnx.Linear(inputs, size["classes"], rngs=rngs)

    def __call__(self, images):
        hidden = nnx.relu(self.norm(self.stem(images)))
        if self.pools:
            hidden = nnx.max_pool(hidden, (3, 3), strides=(2, 2), padding=[(1, 1)] * 2)
        return self.dense(self.blocks(hidden).mean(axis=(1, 2)))
