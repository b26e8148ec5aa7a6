"""States the facts about TensorFlow 2.x."""

from __future__ import annotations

from ..facts import Facts, Mode

FACTS = Facts(
    product="TensorFlow",
    distribution="tensorflow",
    import_name="tensorflow",
    modes=(
        Mode("eager", part="step"),
        # Op by op with TensorFlow's fused training kernels in place of Keras' optimizer.
        Mode("eager-fused", part="step"),
        Mode("function", part="step", first_call_s=1.0, validated=True),
        Mode("xla", part="step", first_call_s=2.0),
    ),
    variables={"TF_NUM_INTRAOP_THREADS": "{threads}", "TF_NUM_INTEROP_THREADS": "1"},
    variable_prefixes=("TF_", "XLA_"),
    companions=("keras",),
)
