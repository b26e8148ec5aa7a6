"""Implements kv-decode in TensorFlow: a tf.while_loop over the tokens, with caches of fixed length."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ..transformer_encoder.tensorflow import ATTENTION, gelu, layer_norm


def empty_cache(size, dtype):
    """Return the cache of a layer: of one sequence (sequence, 1, heads, 2 · head width), with keys and then values.

    Of several, keys and values by themselves (batch, heads, sequence, head width): so they are read as they are, which
    took 0.6 to 0.7 of the time. One sequence took as long or 1.1 times as long so.
    """
    batch, heads, sequence, width = size["batch"], size["heads"], size["sequence"], size["width"] // size["heads"]
    if batch == 1:
        return tf.zeros((sequence, batch, heads, 2 * width), dtype)
    return (tf.zeros((batch, heads, sequence, width), dtype),) * 2


def write(size, cache, keys, values, positions):
    """Write keys and values (batch, count, heads, head width); return the new cache, and what it has of both.

    They are those of the prompt, which begins at position 0, or of one token after it.
    """
    if size["batch"] == 1:
        new = tf.transpose(tf.concat([keys, values], axis=-1), (1, 0, 2, 3))
        cache = tf.tensor_scatter_nd_update(cache, positions[:, None], new)
        return (cache, *tf.split(tf.transpose(cache, (1, 2, 0, 3)), 2, axis=-1))
    after_prompt = ((0, 0), (0, 0), (0, size["sequence"] - keys.shape[1]), (0, 0))
    written = (tf.range(size["sequence"]) == positions[-1])[:, None]
    both = []
    for before, new in zip(cache, (keys, values)):
        new = tf.transpose(new, (0, 2, 1, 3))
        both.append(tf.where(written, new, before) if new.shape[2] == 1 else tf.pad(new, after_prompt))
    return (tuple(both), *both)


def advance(size, variables, caches, tokens, positions):
    """Read tokens (batch, count) at ``positions`` (count,); return the new caches and the logits after the last."""
    batch, count, heads, width = size["batch"], tokens.shape[1], size["heads"], size["width"]
    dtype = variables["token_embedding"].dtype
    hidden_from = tf.range(size["sequence"]) > positions[:, None]
    mask = tf.where(hidden_from, tf.constant(float("-inf"), dtype), tf.constant(0.0, dtype))

    def norm(name, hidden):
        return layer_norm(hidden, variables[name + ".scale"], variables[name + ".shift"])

    def linear(name, hidden):
        return tf.nn.bias_add(tf.matmul(hidden, variables[name + ".weight"]), variables[name + ".bias"])

    embedded = tf.gather(variables["token_embedding"], tokens) + tf.gather(variables["position_embedding"], positions)
    hidden, found = tf.reshape(embedded, (batch * count, width)), []
    for index, cache in enumerate(caches):
        block = "block%d." % index
        projected = tf.matmul(norm(block + "attention_norm", hidden), variables[block + "qkv.weight"])
        queries, keys, values = tf.unstack(tf.reshape(projected, (batch, count, 3, heads, width // heads)), axis=2)
        cache, keys, values = write(size, cache, keys, values, positions)
        found.append(cache)
        queries = tf.transpose(queries, (0, 2, 1, 3)) * (width // heads) ** -0.5
        weights = tf.nn.softmax(tf.matmul(queries, keys, transpose_b=True) + mask)
        mixed = tf.transpose(tf.matmul(weights, values), (0, 2, 1, 3))
        hidden += linear(block + "output", tf.reshape(mixed, (batch * count, width)))
        wide = gelu(linear(block + "expand", norm(block + "feedforward_norm", hidden)))
        hidden += linear(block + "contract", wide)
    last = tf.reshape(hidden, (batch, count, width))[:, -1]
    return found, tf.matmul(norm("final_norm", last), variables["token_embedding"], transpose_b=True)


def with_table_read(variables):
    """Read the table of tokens before the loop gathers from it.

    A gather from a variable makes every later read of it a copy of the whole table: without this a tf.function took
    1.44 and 1.53 times as long in size small.
    """
    return dict(variables, token_embedding=tf.convert_to_tensor(variables["token_embedding"]))


def build(size, parameters, batch, transform):
    prompt, sequence = size["prompt"], size["sequence"]

    def decode(variables, tokens):
        variables = with_table_read(variables)
        empty = [empty_cache(size, variables["token_embedding"].dtype)] * size["layers"]
        caches, first = advance(size, variables, empty, tokens[:, :prompt], tf.range(prompt))
        found = tf.TensorArray(first.dtype, sequence - prompt + 1, element_shape=first.shape).write(0, first)

        def step(index, found, *caches):
            token = tf.gather(tokens, [index], axis=1)
            token.set_shape((size["batch"], 1))
            caches, logits = advance(size, variables, caches, token, tf.reshape(index, (1,)))
            return (index + 1, found.write(index - prompt + 1, logits), *caches)

        _, found, *_ = tf.while_loop(
            lambda index, *others: index < sequence, step, (tf.constant(prompt), found, *caches),
            maximum_iterations=sequence - prompt,
        )  # fmt: skip
        return {"logits": tf.transpose(found.stack(), (1, 0, 2))}

    return inference(decode, parameters, transform, attention=ATTENTION)
