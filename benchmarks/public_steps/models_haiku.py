"""Makes runs of Haiku's own residual network, and of the language model of its example, in the shapes of ours.

The padding of hk.nets.ResNet is "SAME", and its running variance is not unbiased. Attention has biases that ours lacks.
"""

from __future__ import annotations

import haiku as hk
import jax
import jax.numpy as jnp
import optax
import with_haiku
from modules_jax import inferred, trained
from repeated import repeated
from transforms_jax import jitted, training

from bench.workloads import batch_norm, resnet
from bench.workloads.gpt_train import OPTIMIZER as ADAMW
from bench.workloads.resnet18_train import OPTIMIZER as SGD


def runs(workload, size, mode, batch):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch."""
    return {name: repeated(step) for name, step in MODELS[workload](size, mode, batch).items()}


class ResNet(hk.nets.ResNet):
    """Haiku's network, with as many channels and the stem of a size."""

    def __init__(self, size):
        bottleneck, repeats = resnet.NETWORKS[size["depth"]]
        first, wider = resnet.stem(size), resnet.EXPANSION if bottleneck else 1
        super().__init__(
            repeats, size["classes"], {"decay_rate": 1 - batch_norm.MOMENTUM, "eps": batch_norm.EPSILON},
            bottleneck=bottleneck, channels_per_group=[size["width"] * 2**stage * wider for stage in range(4)],
            use_projection=(bottleneck, True, True, True),
            initial_conv_config={
                "output_channels": first.outputs, "kernel_shape": first.kernel, "stride": first.stride,
            },
        )  # fmt: skip
        self.pools = first.stride == 2

    def __call__(self, images, is_training):
        """Do what Haiku's network does, without pooling where the stem is that for small images."""
        if self.pools:
            return super().__call__(images, is_training)
        hidden = jax.nn.relu(self.initial_batchnorm(self.initial_conv(images), is_training, False))
        for group in self.block_groups:
            hidden = group(hidden, is_training, False)
        return self.logits(jnp.mean(hidden, axis=(1, 2)))


def network(size, is_training):
    return hk.without_apply_rng(hk.transform_with_state(lambda images: ResNet(size)(images, is_training)))


def classify(size, mode, batch):
    pure = network(size, is_training=False)
    variables = network(size, is_training=True).init(jax.random.PRNGKey(0), *batch)

    def predict(variables, images):
        return pure.apply(*variables, images)[0]

    transformed = jitted(predict, mode, (variables, *batch))
    return {"haiku.nets": lambda *given: {"logits": transformed(variables, *batch)}}


def train_images(size, mode, batch):
    pure = network(size, is_training=True)
    parameters, kept = pure.init(jax.random.PRNGKey(0), batch[0])
    optimizer = optax.sgd(SGD["learning_rate"], momentum=SGD["momentum"])

    def update(state, images, labels):
        parameters, kept, memory = state

        def loss(parameters):
            logits, new = pure.apply(parameters, kept, images)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), new

        (value, new), gradients = jax.value_and_grad(loss, has_aux=True)(parameters)
        updates, memory = optimizer.update(gradients, memory, parameters)
        return (optax.apply_updates(parameters, updates), new, memory), value

    return {"haiku.nets": training(update, (parameters, kept, optimizer.init(parameters)), mode, batch)}


def language_model(size):
    return with_haiku.pure(lambda tokens: with_haiku.language_model(size, tokens))


def predict(size, mode, batch):
    return {"haiku": inferred(language_model(size), mode, batch)}


def train_language(size, mode, batch):
    adamw = optax.adamw(
        ADAMW["learning_rate"], b1=ADAMW["beta1"], b2=ADAMW["beta2"], weight_decay=ADAMW["weight_decay"]
    )
    return {"haiku": trained(language_model(size), adamw, mode, batch)}


MODELS = {
    "resnet18": classify, "resnet50": classify, "resnet18-train": train_images, "resnet50-train": train_images,
    "gpt": predict, "gpt-train": train_language,
}  # fmt: skip
