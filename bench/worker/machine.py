"""Knows what in this process steers the numeric libraries, apart from the framework's own settings."""

from __future__ import annotations

import os
import platform
from typing import Dict

import numpy as np

#: Variables with these prefixes change which kernels run, on how many threads, or how memory is allocated.
STEERING = (
    "OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "BLIS_", "NVPL_", "NPY_", "NUMEXPR_", "DNNL_", "ONEDNN_", "TF_",
    "XLA_", "JAX_", "PJRT_", "TORCH", "PYTORCH_", "TRITON_", "CUDA_", "CUBLAS_", "CUDNN_", "NVIDIA_", "MALLOC_",
    "LD_PRELOAD", "ATEN_",
)  # fmt: skip
#: Folders that the host chooses for each cell; they say nothing about how anything computes.
FOLDERS = ("JAX_COMPILATION_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


def steering_variables() -> Dict[str, str]:
    """List the environment variables in force that steer numeric libraries."""
    return {
        name: value for name, value in sorted(os.environ.items()) if name.startswith(STEERING) and name not in FOLDERS
    }


def versions() -> Dict[str, str]:
    return {"python": platform.python_version(), "numpy": np.__version__}
