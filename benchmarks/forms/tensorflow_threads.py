"""Forms of the threads of a graph in TensorFlow: one inter-op thread, for cells with several threads."""

from __future__ import annotations

import tensorflow as tf

present = tf.config.threading.set_inter_op_parallelism_threads
SET = tf.config.threading.__name__ + ":set_inter_op_parallelism_threads"
FORMS = {"one inter-op thread": {SET: lambda count: present(1)}}
