"""Reads back in which types a program multiplies, off a graph of it."""

from __future__ import annotations

import tensorflow as tf

from .. import precisions

#: Operations that multiply, those of the backward pass too.
PRODUCTS = (
    "MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv2D", "Conv2DBackpropInput",
    "Conv2DBackpropFilter", "DepthwiseConv2dNative",
)  # fmt: skip
#: {type of factors: what all adapters call them}. TF32 is off in mixed precision.
WORDS = {tf.bfloat16: "bf16", tf.float16: "fp16", tf.float32: "highest"}


class Products:
    """The products of a function of tensors in mixed precision, by the shapes of its first arguments."""

    def __init__(self, function, precision):
        self._function = function
        self._mixed = precision == precisions.MIXED
        self._given = self._found = None

    def __call__(self, *batch):
        if self._mixed and self._given is None:
            self._given = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in batch]
        return self._function(*batch)

    def settings(self):
        """Return the setting of ``float32 matmul`` in mixed precision, once there have been arguments."""
        if self._found is None and self._given is not None:
            # Traced only; nothing of it runs.
            graph = tf.function(self._function).get_concrete_function(*self._given).graph
            self._found = in_words(graph.as_graph_def())
        return {"float32 matmul": self._found} if self._found else {}


def in_words(definition):
    """Name the precisions of a graph's products of floats: ``bf16``, or ``bf16 and highest`` where some are wide."""
    nodes = [*definition.node, *(node for function in definition.library.function for node in function.node_def)]
    types = {tf.as_dtype(node.attr["T"].type) for node in nodes if node.op in PRODUCTS}
    return " and ".join(sorted(WORDS[each] for each in types if each in WORDS))
