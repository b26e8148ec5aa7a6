"""States the facts about Keras 3, whose backend KERAS_BACKEND names."""

from __future__ import annotations

from ..facts import Facts, Mode

FACTS = Facts(
    product="Keras",
    distribution="keras",
    import_name="keras",
    # "fit" and "predict" are Keras' loops with its default of jit_compile; the others ask for compilation.
    modes=(
        Mode("train-on-batch", part="step", first_call_s=2.0),
        Mode("fit", part="step", first_call_s=2.0),
        Mode("fit-jit", part="step", first_call_s=4.0),
        Mode("predict", first_call_s=1.0),
        Mode("predict-jit", first_call_s=3.0),
    ),
    # On PyTorch, Keras looks for GPUs when it is imported. Without this CUDA starts there, and fails in forked workers.
    variables={"PYTORCH_NVML_BASED_CUDA_CHECK": "1"},
)
