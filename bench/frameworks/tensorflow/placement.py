"""Collects the graphs that TensorFlow executes, and finds what it places on the processor in a cell of a GPU.

``set_soft_device_placement(False)`` is no guard: it forbids to move an operation from the device that a program names,
and programs name none. An operation without a kernel for the GPU then lies on the processor, with or without it.
"""

from __future__ import annotations

import collections

from tensorflow.core.framework import types_pb2
from tensorflow.python.eager import context

from ...program import Unsupported

#: What the names of operations that multiply contain, oneDNN's too.
PRODUCTS = ("MatMul", "Conv2D", "Conv3D", "DepthwiseConv", "Einsum", "CudnnRNN")
#: What the names of operations contain that only pass values on.
PASSING = ("_Arg", "_Retval", "Recv", "Send", "Const", "Identity", "NoOp", "VariableOp", "VarHandle", "Shape")
FLOATS = (types_pb2.DT_FLOAT, types_pb2.DT_BFLOAT16, types_pb2.DT_HALF, types_pb2.DT_DOUBLE)


class Collected:
    """The operations of executed graphs after all passes; op by op, each operation has a graph of its own.

    TensorFlow tells of a graph when it is made, so graphs are collected until ``end``, before anything is timed.
    """

    def __init__(self):
        self._collecting = False
        #: {(operation, whether it is on a processor, whether it has floats): how many}
        self._nodes = collections.Counter()

    def begin(self):
        """Begin, unless that was done; the context must exist, as asking for it would start a GPU unlimited."""
        if not self._collecting:
            # Op by op, TensorFlow keeps the kernels of operations, and tells of no graph when it uses one again.
            context.context().clear_kernel_cache()
            context.context().enable_graph_collection()
            self._collecting = True

    def end(self):
        self._read()
        if self._collecting:
            context.context().disable_graph_collection()
            self._collecting = False

    def operations(self):
        """Return {operation: how many}."""
        self._read()
        found = collections.Counter()
        for (name, _, _), count in self._nodes.items():
            found[name] += count
        return found

    def on_processor(self):
        """List the operations on floats that a processor computes."""
        self._read()
        return sorted(
            {
                name
                for name, processor, floats in self._nodes
                if processor and floats and not any(word in name for word in PASSING)
            }
        )

    def _read(self):
        if self._collecting:
            for function in context.context().export_run_metadata().function_graphs:
                for graph in function.partition_graphs:
                    self._nodes.update(map(described, graph.node))


def described(node):
    """Return an operation's name, whether it lies on a processor, and whether it has floats."""
    floats = any(value.type in FLOATS for value in node.attr.values())
    return node.op, "/device:CPU:" in node.device, floats


def verify(operations):
    """Raise Unsupported where products of a GPU's cell are computed by the processor."""
    products = [name for name in operations if any(word in name for word in PRODUCTS)]
    if products:
        raise Unsupported(
            "TensorFlow computes {} on the processor, where it puts what has no kernel for the GPU: use another "
            "mode".format(" and ".join(products))
        )
