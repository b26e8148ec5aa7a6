"""Builds graphs and runs them in one session."""

from __future__ import annotations

import tensorflow.compat.v1 as tf


class Sessions:
    """The session of a cell, made when the first graph is complete."""

    def __init__(self, threads):
        self._config = tf.ConfigProto(
            intra_op_parallelism_threads=threads,
            # As by default: with one, transformer-train/mini took 1.3 times as long on two processors.
            inter_op_parallelism_threads=threads,
        )
        self._session = None
        self._initialised = set()
        self._training = False
        #: Graphs that programs had built, one for each shape.
        self.graphs = 0

    @property
    def session(self):
        if self._session is None:
            self._session = tf.Session(config=self._config)
        return self._session

    def program(self, function, training):
        self._training = self._training or training
        traced = self.traced(function, count=True)
        traced.sessions = self
        return traced

    def traced(self, function, count=False):
        """Return a function of arrays that runs the graph that ``function`` makes of placeholders of their shapes."""
        known = {}

        def call(*arrays):
            shapes = tuple(array.shape for array in arrays)
            if shapes not in known:
                self.graphs += count
                known[shapes] = self._callable(function, arrays)
            return known[shapes](*arrays)

        return call

    def _callable(self, function, arrays):
        placeholders = [tf.placeholder(tf.as_dtype(array.dtype), array.shape) for array in arrays]
        fetched = function(*placeholders)
        self.initialise()
        # Without the checks and the copies of feed_dict that each call of ``run`` makes.
        return self.session.make_callable(fetched, feed_list=placeholders)

    def initialise(self):
        """Give variables their initial values that have none yet."""
        missing = [variable for variable in tf.global_variables() if id(variable) not in self._initialised]
        self.session.run([variable.initializer for variable in missing])
        self._initialised.update(map(id, missing))

    def settings(self):
        return {
            "threads": self._config.intra_op_parallelism_threads,
            "interop threads": self._config.inter_op_parallelism_threads,
            "dispatch": "inline",
        }

    def report(self):
        part = "forward, backward and optimizer" if self._training else "forward"
        found = {"compiled": part if self.graphs else "nothing", "compilations": self.graphs}
        return dict(found, graphs=self.graphs, traces=self.graphs) if self.graphs else found

    def close(self):
        if self._session is not None:
            self._session.close()
