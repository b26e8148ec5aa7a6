"""Implements catdog-cnn-train in TensorFlow: tf.Variable and GradientTape, in NHWC, which its CPU kernels need."""

from __future__ import annotations

import functools

import tensorflow as tf

from ...frameworks.tensorflow.adapter import cross_entropy, variable_training
from ..lenet_train.tensorflow import block, dense, pooling
from . import OPTIMIZER


def logits(variables, images, pool):
    hidden = block(images, variables["conv1_weight"], variables["conv1_bias"], pool)
    hidden = block(hidden, variables["conv2_weight"], variables["conv2_bias"], pool)
    hidden = block(hidden, variables["conv3_weight"], variables["conv3_bias"], pool)
    hidden = tf.reshape(hidden, (images.shape[0], -1))
    hidden = tf.nn.relu(dense(hidden, variables["dense1_weight"], variables["dense1_bias"]))
    return dense(hidden, variables["dense2_weight"], variables["dense2_bias"])


def loss(variables, images, labels, pool):
    found = logits(variables, images, pool)
    return cross_entropy(labels, found)


def build(size, parameters, batch, transform):
    pooled, outputs = (functools.partial(function, pool=pooling(transform.mode)) for function in (loss, logits))
    return variable_training(pooled, parameters, transform, OPTIMIZER, layout="NHWC", outputs=outputs)
