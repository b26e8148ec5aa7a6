"""Forms of Keras' fit on TensorFlow: one step in each execution, and a pipeline without options."""

from __future__ import annotations

import tensorflow as tf

from bench.frameworks.tensorflow.repetition import Repetition


class Tuned(Repetition):
    """Data sets whose threads tune the pipeline."""

    def __init__(self, *given):
        super().__init__(*given)
        self._options = tf.data.Options()


FORMS = {
    "one step": {"bench.frameworks.keras.programs:STEPS_PER_EXECUTION": {"tensorflow": 1}},
    "tuned": {"bench.frameworks.tensorflow.repetition:Repetition": Tuned},
}
