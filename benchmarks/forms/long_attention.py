"""Forms of attention to long sequences in each framework: the scores of all queries at once."""

from __future__ import annotations

#: No sequence is a multiple of such a block.
NEVER = 1 << 30
FORMS = {
    "JAX at once": {"bench.workloads.attention_full.jax:compiles_for_processor": lambda mode: False},
    "TensorFlow at once": {"bench.workloads.attention_full.tensorflow:BLOCK": NEVER},
    "PyTorch 1 at once": {"bench.workloads.attention_full.torch:BLOCK": NEVER},
}
