"""Forms of lenet-input in TensorFlow: which loop takes the batches of a run from the data set."""

from __future__ import annotations


def in_python(step):
    """Take each batch by Python's iterator, and call the step with it."""

    def run(fed_by):
        iterator, _ = fed_by
        for batch in iterator:
            outputs = step(*batch)
        return outputs

    return run


FORMS = {"loop of Python": {"bench.workloads.lenet_input.tensorflow:in_graph": in_python}}
