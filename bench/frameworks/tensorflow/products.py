"""Reads back in which types a program multiplies, off a graph of it."""

from __future__ import annotations

import tensorflow as tf

from .. import products

#: Operations that multiply, those of the backward pass too.
PRODUCTS = (
    "MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv2D", "Conv2DBackpropInput",
    "Conv2DBackpropFilter", "DepthwiseConv2dNative",
)  # fmt: skip
#: {type of short factors: what all adapters call them}
NARROW = {tf.bfloat16: "bf16", tf.float16: "fp16"}


class Products(products.Products):
    """The products of a function of tensors, by the first ones that it is given."""

    def described(self, arguments):
        return [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in arguments]

    def traced(self, function, described):
        return in_words(tf.function(function).get_concrete_function(*described).graph.as_graph_def())


def in_words(definition):
    """Name the precisions of a graph's products of floats: ``bf16``, or ``bf16 and highest`` where some are wide.

    On a GPU wide ones may be in TF32.
    """
    words = {**NARROW, tf.float32: "tf32" if tf.config.experimental.tensor_float_32_execution_enabled() else "highest"}
    nodes = [*definition.node, *(node for function in definition.library.function for node in function.node_def)]
    types = {tf.as_dtype(node.attr["T"].type) for node in nodes if node.op in PRODUCTS}
    return " and ".join(sorted(words[each] for each in types if each in words))
