"""Makes the programs that TensorFlow 1.x's users wrote: a graph with an optimizer of tf.train, run step by step."""

from __future__ import annotations

import tensorflow.compat.v1 as tf

from ...program import Program
from ..forms import given


def inference(function, parameters, transform, layout=None, attention=None):
    """Make the program of ``function(variables, *batch) -> {name: tensor}``; parameters are variables."""
    variables = made(parameters, trainable=False)
    found = given(layout=layout, attention=attention)
    transformed = transform(lambda *batch: function(variables, *batch), settings=lambda: found)
    return Program(transformed, close=transformed.sessions.close)


def training(loss, parameters, transform, settings, layout=None, attention=None, outputs=None):
    """Make the program that trains ``parameters`` on ``loss(variables, *batch)``; all of a step is one graph.

    ``outputs(variables, *inputs)`` gives the logits from which a training to a result is evaluated.
    """
    variables = made(parameters, trainable=True)
    found = given(layout=layout, attention=attention)
    # tf.train's classes call a kernel for each variable.
    found.update({"optimizer": "training kernels", "fused optimizer": True})
    optimizer = make_optimizer(settings)

    def update(*batch):
        value = loss(variables, *batch)
        return {"loss": value, "updated": optimizer.minimize(value, var_list=list(variables.values()))}

    transformed = transform(update, training=True, settings=lambda: found, part="step")
    sessions = transformed.sessions
    started = []

    def step(*batch):
        return {"loss": transformed(*batch)["loss"]}

    def reset():
        sessions.initialise()
        if not started:
            started.append(tf.variables_initializer(tf.global_variables()))
        sessions.session.run(started[0])

    def current():
        return sessions.session.run(variables)

    evaluate = sessions.traced(lambda *inputs: outputs(variables, *inputs)) if outputs is not None else None
    return Program(step, current, reset, evaluate=evaluate, close=sessions.close)


def made(parameters, trainable):
    return {name: tf.Variable(value, trainable=trainable) for name, value in parameters.items()}


def make_optimizer(settings):
    """Make the optimizer of tf.train that a specification's ``OPTIMIZER`` names."""
    rate = settings["learning_rate"]
    if settings["name"] == "sgd" and not settings.get("momentum"):
        return tf.train.GradientDescentOptimizer(rate)
    if settings["name"] == "sgd":
        return tf.train.MomentumOptimizer(rate, settings["momentum"])
    if settings["name"] != "adam":
        raise ValueError("unknown optimizer {!r}".format(settings["name"]))

    def epsilon():
        # The kernel adds epsilon before the bias correction (Kingma & Ba, end of section 2), the others after it.
        power = optimizer._get_beta_accumulators()[1]
        return settings["epsilon"] * tf.sqrt(1.0 - power)

    optimizer = tf.train.AdamOptimizer(rate, settings["beta1"], settings["beta2"], epsilon)
    return optimizer
