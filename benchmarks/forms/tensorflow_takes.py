"""Forms of taking rows in TensorFlow: of gather, and of the first row in branch-if."""

from __future__ import annotations

from bench.workloads.branch_if import tensorflow as branch
from bench.workloads.gather import tensorflow as rows

GATHER = "bench.workloads.gather.tensorflow:"
FORMS = {
    "tf.gather": {GATHER + "gather_nd": rows.gather},
    "tf.gather_nd": {GATHER + "gather": rows.gather_nd},
    "sliced": {"bench.workloads.branch_if.tensorflow:gathered": branch.sliced},
    "gathered": {"bench.workloads.branch_if.tensorflow:sliced": branch.gathered},
}
