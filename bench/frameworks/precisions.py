"""Tells in which type a precision stores arrays, and refuses what an adapter or a device lacks.

TF32 is no type of arrays: they are float32, and tensor cores read 10 of the 23 bits of a product's factors. Nor is
mixed precision (Micikevicius et al. 2018): a training step keeps parameters and the optimizer's state in float32, and
computes forward and backward in bfloat16, but for what would lose too much: normalisations, and the loss.
"""

from __future__ import annotations

import os
from typing import Optional, Tuple

from ..cell import MIXED as MIXED
from ..program import Unsupported

TF32 = "tf32"
#: The compute capability of the first GPUs with TF32 and bfloat16, such as the A100.
FIRST_CAPABILITY = (8, 0)
#: {precision that needs such a GPU: its name}
NEW_ON_GPUS = {TF32: "TF32", MIXED: "mixed precision in bfloat16", "bfloat16": "bfloat16"}


def array_type(precision: str, device: str, *, mixes: bool = False) -> str:
    """Name the type of a precision's arrays.

    Raises Unsupported for TF32 on a processor, or where it is turned off, and for mixed precision unless the adapter
    ``mixes``.
    """
    if precision == MIXED:
        if not mixes:
            raise Unsupported(
                "mixed precision is written for PyTorch, TensorFlow 2, JAX and the libraries above them: use float32"
            )
        return "float32"
    if precision != TF32:
        return precision
    if device != "gpu":
        raise Unsupported("TF32 is a format of NVIDIA GPUs, which processors do not have: use float32")
    if os.environ.get("NVIDIA_TF32_OVERRIDE") == "0":
        raise Unsupported("NVIDIA_TF32_OVERRIDE=0 turns TF32 off: unset it, or use float32")
    return "float32"


def leaves_tf32(precision: str, device: str) -> bool:
    """Tell whether products of float32 are left to XLA's and TensorFlow's default, which is TF32 on new GPUs.

    So they are in all precisions with short factors. Where full products are asked for, XLA compiles none with Triton,
    short ones neither (``CanTritonHandleGEMM``), and its users would not have these times.
    """
    return device == "gpu" and precision not in ("float32", "float64")


def is_narrowed(name: str) -> bool:
    """Tell whether mixed precision casts a parameter: those of normalisations stay, as in Keras, Flax and PyTorch.

    Next to 1, bfloat16 has steps of 2^-7 and 2^-8, in which an update of a scale would long stay invisible.
    """
    return not name.endswith((".scale", ".shift"))


def verify_gpu(precision: str, capability: Optional[Tuple[int, int]]) -> None:
    """Raise Unsupported unless a GPU of this compute capability has a precision; None is a GPU that is not NVIDIA's.

    On older GPUs PyTorch 1.x raises an error for bfloat16; PyTorch 2.x and XLA compute it in float32, between casts.
    """
    if precision not in NEW_ON_GPUS:
        return
    if capability is None:
        if precision == TF32:
            raise Unsupported("TF32 is a format of NVIDIA GPUs, and this GPU is none: use float32")
    elif capability < FIRST_CAPABILITY:
        raise Unsupported(
            "{} needs an NVIDIA GPU of compute capability {}.{} or later, and this one has {}.{}: use float32".format(
                NEW_ON_GPUS[precision], *FIRST_CAPABILITY + tuple(capability)
            )
        )
