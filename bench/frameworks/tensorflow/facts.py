"""States the facts about TensorFlow 2.x."""

from __future__ import annotations

from ..facts import Facts, Mode, Release

FACTS = Facts(
    product="TensorFlow",
    distribution="tensorflow",
    import_name="tensorflow",
    modes=(
        Mode("eager", part="step"),
        # Op by op with TensorFlow's fused training kernels in place of Keras' optimizer.
        Mode("eager-fused", part="step"),
        Mode("function", part="step", first_call_s=0.3, validated=True),
        Mode("xla", part="step", first_call_s=0.8),
        # Function with the weights as constants of its graph.
        Mode("function-frozen", first_call_s=0.5),
        # Their concrete functions, called directly.
        Mode("function-concrete", part="step", first_call_s=0.3),
        Mode("xla-concrete", part="step", first_call_s=0.8),
        Mode("xla-auto", part="step", first_call_s=0.8),
        # Training steps over two devices.
        Mode("mirrored", part="step", first_call_s=1.0, devices=2, places_batches=True),
    ),
    sets_threads=True,
    variables={"TF_NUM_INTRAOP_THREADS": "{threads}", "TF_NUM_INTEROP_THREADS": "{threads}"},
    variable_prefixes=("TF_", "XLA_"),
    companions=("keras",),
    package="tensorflow-cpu",
    releases=(
        Release("2.10", ("3.7", "3.10"), ("numpy<2",)),
        Release("2.12", ("3.8", "3.11")),
        Release("2.14", ("3.9", "3.11")),
        Release("2.16", ("3.9", "3.12")),
        Release("2.20", ("3.9", "3.13")),
        Release("2.21", ("3.10", "3.13")),
    ),
)
