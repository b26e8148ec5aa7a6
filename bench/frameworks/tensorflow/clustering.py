"""Asks TensorFlow to compile clusters of operations with XLA (auto-clustering), and reads what it clustered.

TensorFlow reads the flags once, when it first looks for devices.
"""

from __future__ import annotations

import collections

import tensorflow as tf
from tensorflow.python.eager import context

from ...program import Unsupported
from .. import xla

#: The mode that clusters.
AUTO = "xla-auto"
#: The modes in which XLA compiles a whole step, and those in which it does so whole or in clusters.
WHOLE = ("xla", "xla-concrete")
BY_XLA = (*WHOLE, AUTO)
#: On a GPU the first one is enough; a processor needs both.
FLAGS = ("--tf_xla_auto_jit=2", "--tf_xla_cpu_global_jit")
#: The operation that compiles a cluster, and what the names of the fused training kernels begin with.
COMPILES, UPDATES = "_XlaCompile", "ResourceApply"


def ask():
    """Set the flags beside those that the environment has; before TensorFlow looks for devices."""
    xla.add_flags("TF_XLA_FLAGS", *FLAGS)
    # Grappler's remapper joins a product and its bias in a kernel that no cluster takes: transformer-encoder/tiny was
    # five clusters in place of one.
    tf.config.optimizer.set_experimental_options({"remapping": False})


class Clusters:
    """Counts operations in the graphs that TensorFlow executes, after all of its passes.

    TensorFlow tells of a graph when it is made, so graphs are collected until ``end``, before anything is timed.
    """

    def __init__(self):
        self._collecting = False
        #: {operation: how many lie outside of clusters}
        self._operations = collections.Counter()

    def begin(self):
        # The context exists by now: arrays lie on the device. Asking for it earlier would start a GPU unlimited.
        context.context().enable_graph_collection()
        self._collecting = True

    def end(self):
        """Stop collecting. Raises Unsupported where nothing is clustered, as in ``function``."""
        count = self.count()
        if self._collecting:
            context.context().disable_graph_collection()
            self._collecting = False
            if not count:
                raise Unsupported("auto-clustering found no operations to join in this program: see function")

    def count(self):
        """Return the number of clusters that XLA compiles."""
        self._read()
        return self._operations[COMPILES]

    @property
    def update(self):
        """Tell whether XLA compiles the optimizer, too: no training kernel is left outside of the clusters."""
        self._read()
        return not any(name.startswith(UPDATES) for name in self._operations)

    def _read(self):
        if self._collecting:
            for function in context.context().export_run_metadata().function_graphs:
                for graph in function.partition_graphs:
                    self._operations.update(node.op for node in graph.node)
