"""Forms of the transformer in Keras: queries, keys and values are slices, or parts of a split product."""

from __future__ import annotations

from keras import layers

from bench.frameworks.keras.versions import THREE, ops
from bench.workloads.transformer_encoder.keras import mix

PLACE = "bench.workloads.transformer_encoder.keras:attend"


def by_heads(size, *parts):
    return layers.Reshape((size["sequence"], *parts, size["heads"], size["width"] // size["heads"]))


def with_slices(size, hidden, causal):
    stacked = by_heads(size, 3)(hidden)
    return mix(size, [stacked[:, :, part] for part in range(3)], causal)


def with_split(size, hidden, causal):
    return mix(size, [by_heads(size)(part) for part in ops.split(hidden, 3, axis=-1)], causal)


FORMS = {"slices": {PLACE: with_slices}, **({"split": {PLACE: with_split}} if THREE else {})}
