"""Asks TensorFlow to compile clusters of operations with XLA (auto-clustering), and reads what it clustered.

TensorFlow reads the flags once, when it first looks for devices.
"""

from __future__ import annotations

import tensorflow as tf

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


def compiles_for_processor(mode):
    """Tell whether XLA compiles whole steps, for a processor: an adapter hides the GPUs that it does not use."""
    return mode in WHOLE and not tf.config.get_visible_devices("GPU")


def ask():
    """Set the flags beside those that the environment has; before TensorFlow looks for devices."""
    xla.add_flags("TF_XLA_FLAGS", *FLAGS)
    # Grappler's remapper joins a product and its bias in a kernel that no cluster takes: transformer-encoder/tiny was
    # five clusters in place of one.
    tf.config.optimizer.set_experimental_options({"remapping": False})


class Clusters:
    """Counts the clusters in the graphs that were ``collected``, and tells what lies outside of them."""

    def __init__(self, collected):
        self._collected = collected

    def begin(self):
        # The context exists by now: arrays lie on the device.
        self._collected.begin()

    def end(self):
        """Stop collecting. Raises Unsupported where nothing is clustered, as in ``function``."""
        self._collected.end()
        if not self.count():
            raise Unsupported("auto-clustering found no operations to join in this program: see function")

    def count(self):
        """Return the number of clusters that XLA compiles."""
        return self._collected.operations()[COMPILES]

    @property
    def update(self):
        """Tell whether XLA compiles the optimizer, too: no training kernel is left outside of the clusters."""
        return not any(name.startswith(UPDATES) for name in self._collected.operations())
