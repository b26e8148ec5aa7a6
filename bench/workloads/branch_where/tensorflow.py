"""Implements branch-where in TensorFlow: tf.where."""

from __future__ import annotations

import functools

import tensorflow as tf

from ..branch_if import tensorflow as branch


def selecting(condition, upper, lower):
    return tf.where(condition, upper(), lower())


build = functools.partial(branch.build, choose=selecting)
