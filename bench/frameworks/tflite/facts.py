"""States the facts about TensorFlow Lite, whose interpreter runs models that TensorFlow converts."""

from __future__ import annotations

from ..facts import Facts, Mode
from ..tensorflow.facts import FACTS as TENSORFLOW

FACTS = Facts(
    product="TensorFlow Lite",
    distribution="ai-edge-litert",
    import_name="ai_edge_litert",
    modes=(
        Mode("float32", first_call_s=0.4),
        # Weights and activations are integers of 8 bits; inputs and outputs stay float32.
        Mode("int8", first_call_s=1.4, computes_in="int8"),
    ),
    variables=TENSORFLOW.variables,
    variable_prefixes=TENSORFLOW.variable_prefixes,
    companions=("tensorflow",),
)
