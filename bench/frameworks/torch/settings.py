"""Sets what PyTorch computes with, and reads back the settings in force."""

from __future__ import annotations

import ctypes
import os
import re

import torch

from .. import loaded, precisions

#: What PyTorch calls the precisions of float32 matrix products, in the words of all adapters.
PRECISIONS = {"highest": "highest", "high": "tf32", "medium": "bf16"}
#: {type of narrow factors: what all adapters call them}
NARROW = {torch.bfloat16: "bf16", torch.float16: "fp16"}


def demand(device, *, tf32=False, tuned=True):
    """Ask for full float32, which was not the default everywhere, or for TF32, and for the fastest kernels of cuDNN.

    ``tuned`` lets cuDNN time its kernels for convolutions, once in each thread.
    """
    if hasattr(torch, "set_float32_matmul_precision"):
        torch.set_float32_matmul_precision("high" if tf32 else "highest")
    if device.type == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
        # Shapes never change here; TensorFlow and XLA tune their convolutions by default.
        torch.backends.cudnn.benchmark = tuned


def capability(device):
    """Return the compute capability of an NVIDIA GPU; None for another one."""
    if getattr(torch.version, "hip", None):
        return None
    found = torch.cuda.get_device_properties(device)
    return found.major, found.minor


def verify_gpu(precision, device):
    """Raise Unsupported where a GPU is too old for a precision; this starts CUDA where the precision depends on it."""
    if precision in precisions.NEW_ON_GPUS:
        precisions.verify_gpu(precision, capability(device))


def in_autocast(context):
    """Read back in what a ``torch.autocast`` multiplies float32: {} where it leaves them as they are.

    PyTorch turns it off, with a warning only, where a device does not have the type.
    """
    kind = context.device
    with context:
        if hasattr(torch, "get_autocast_dtype"):
            enabled, narrow = torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)
        elif kind == "cuda":
            enabled, narrow = torch.is_autocast_enabled(), torch.get_autocast_gpu_dtype()
        else:
            enabled, narrow = torch.is_autocast_cpu_enabled(), torch.get_autocast_cpu_dtype()
    return {"float32 matmul": NARROW.get(narrow, str(narrow))} if enabled else {}


def float32_matmul(device):
    if device.type == "cuda":
        return "tf32" if torch.backends.cuda.matmul.allow_tf32 else "highest"
    if hasattr(torch, "get_float32_matmul_precision"):
        return PRECISIONS[torch.get_float32_matmul_precision()]
    return "highest"  # Before there was a choice.


def read(device):
    """Read back what does not depend on the cell's mode or program."""
    found = {"threads": torch.get_num_threads(), "interop threads": torch.get_num_interop_threads()}
    found.update(read_cuda() if device.type == "cuda" else read_cpu())
    return found


def read_cpu():
    configuration = torch.__config__.show()
    found = {"kernels": "onednn" if torch.backends.mkldnn.is_available() else "native"}
    found.update(loaded.allocator())
    if hasattr(torch.backends, "cpu"):
        found["instruction set"] = torch.backends.cpu.get_cpu_capability()
    else:
        capability = re.search(r"CPU capability usage: (\S+)", configuration)
        if capability:
            found["instruction set"] = capability.group(1)
    blas = re.search(r"BLAS_INFO=(\w+)", configuration)
    if blas:
        found["BLAS"] = blas.group(1) + (mkl_kernels() if blas.group(1) == "mkl" else "")
    return found


def mkl_kernels():
    """Say which version of MKL this is, and whether its kernels are those for any processor.

    It uses them on AMD's processors, unless ``mkl_serv_intel_cpu_true`` is replaced. They never have AVX-512; those of
    2024.2 have AVX2 in float32 products, and those of 2020.0 have SSE.
    """
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    try:
        detected = ctypes.CDLL(path).mkl_serv_cpu_detect()
    except (OSError, AttributeError):
        return ""
    version = library_versions().get("mkl", "")
    return " {}{}".format(version, "" if detected else " (kernels for any processor)").rstrip()


def read_cuda():
    found = {
        "TF32 matmul": bool(torch.backends.cuda.matmul.allow_tf32),
        "TF32 convolution": bool(torch.backends.cudnn.allow_tf32),
        "cuDNN autotuning": bool(torch.backends.cudnn.benchmark),
        "cuDNN deterministic": bool(torch.backends.cudnn.deterministic),
        "allocator": cuda_allocator(),
        "kernels": "cudnn" if torch.backends.cudnn.is_available() and torch.backends.cudnn.enabled else "native",
    }
    if hasattr(torch.backends.cuda, "preferred_blas_library"):
        # An enumeration: _BlasBackend.Cublas.
        found["BLAS"] = str(torch.backends.cuda.preferred_blas_library()).rpartition(".")[2].lower()
    return found


def cuda_allocator():
    """Name the allocator of GPU memory: caching, caching with expandable segments, or cudaMallocAsync."""
    if hasattr(torch.cuda, "get_allocator_backend") and torch.cuda.get_allocator_backend() != "native":
        return str(torch.cuda.get_allocator_backend())
    try:
        expandable = torch.cuda.memory._snapshot()["allocator_settings"]["expandable_segments"]
    except (AttributeError, KeyError, TypeError):
        expandable = False  # 2.1 brought both.
    return "caching, expandable segments" if expandable else "caching"


def library_versions():
    """Return the versions of the libraries that PyTorch says it was built with.

    ``torch.__config__.show()`` has them, too, but looks for GPUs, which starts CUDA's driver: after that no process can
    be forked that uses it.
    """
    configuration = torch.__config__.parallel_info()
    patterns = {
        "mkl": r"(?:Math Kernel Library|oneMKL)\D*Version (\S+)",
        "onednn": r"MKL-DNN v(\S+)|oneDNN v(\S+)",
    }
    found = {}
    for name, pattern in patterns.items():
        match = re.search(pattern, configuration)
        if match:
            found[name] = next(group for group in match.groups() if group).replace("-Product", "")
    return found
