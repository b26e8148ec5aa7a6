"""Forms of the transformer in Flax: batch and sequence as two axes, and the exact GELU of JAX."""

from __future__ import annotations

import functools

import jax
from flax import linen

from bench.workloads.transformer_encoder import flax as present
from bench.workloads.transformer_encoder.flax import LinenBlock

MODULE, TRAIN = "bench.workloads.transformer_encoder.flax:", "bench.workloads.transformer_train.flax:"
attend_one_axis = present.attend


def attend(projected, *given):
    return attend_one_axis(projected, *given).reshape(*projected.shape[:-1], -1)


class Stack(present.Stack):
    def __call__(self, hidden):
        for index in range(self.count):
            hidden = getattr(self, f"block{index}")(hidden)
        return self.final_norm(hidden)


class LinenStack(present.LinenStack):
    @linen.compact
    def __call__(self, hidden):
        for index in range(self.size["layers"]):
            hidden = LinenBlock(self.size, self.causal, self.dtype, name=f"block{index}")(hidden)
        return linen.LayerNorm(present.attention.EPSILON, dtype=self.dtype, name="final_norm")(hidden)


GELU = {MODULE + "gelu": functools.partial(jax.nn.gelu, approximate=False)}
TWO_AXES = {
    MODULE + "attend": attend,
    MODULE + "Stack": Stack,
    MODULE + "LinenStack": LinenStack,
    TRAIN + "Stack": Stack,
    TRAIN + "LinenStack": LinenStack,
}
FORMS = {"two axes": TWO_AXES, "jax.nn.gelu": GELU, "before": {**GELU, **TWO_AXES}}
