"""Computes what PyTorch's compiler computes once in every process and keeps, whatever it compiles.

The process that workers are forked from does it for all of them, see ``facts.COMPILER``. What is compiled for it is
compiled once in an installation, by ``use_common_folder`` and the adapter's ``warm``; before that nothing is done here.
Everything is internal to PyTorch and follows 2.15; where another version differs it fails, and the first call does it,
as in a process of its own.
"""

from __future__ import annotations

import glob
import importlib
import os


def use_common_folder():
    """Let the compiler keep what it compiles from now on where all processes of the installation find it."""
    from torch._inductor.runtime.cache_dir_utils import default_cache_dir

    os.environ["TORCHINDUCTOR_CACHE_DIR"] = default_cache_dir()


def vector_instructions():
    """Find the vector instructions that the processor and the C++ compiler have; PyTorch tries them with programs."""
    from torch._inductor import cpu_vec_isa

    if _tried():
        _import_options()
        cpu_vec_isa.pick_vec_isa()


def header():
    """Look up the precompiled header of kernels for the processor, which runs the C++ preprocessor."""
    from torch._inductor import codecache, cpu_vec_isa
    from torch._inductor.cpp_builder import CppBuilder, CppTorchDeviceOptions

    if not _tried() or not _compiled("precompiled_headers", "*.gch"):
        return
    _import_options()
    cache = codecache.CppPythonBindingsCodeCache
    # As ``CppCodeCache.load_async`` calls it for a kernel: the arguments are the key under which it is kept.
    command = dict(
        cache.cpp_compile_command_flags,
        device_type="cpu",
        extra_flags=(),
        use_relative_path=False,
        vec_isa=cpu_vec_isa.pick_vec_isa(),
    )
    options = CppTorchDeviceOptions(compile_only=False, min_optimize=False, **command)
    line = CppBuilder(name="o", sources="i", BuildOption=options).get_command_line()
    codecache._precompile_header(cache._get_uncompiled_header("cpu"), line, min_optimize=False, **command)


def _import_options():
    """Import what knows the options of the C++ compiler, without a look for GPUs.

    Where the driver's library is missing, that look starts CUDA, which then works in no forked process.
    """
    import torch

    look, torch.cuda.is_available = torch.cuda.is_available, lambda: False
    try:
        importlib.import_module("torch.utils.cpp_extension")
    finally:
        torch.cuda.is_available = look


def _tried():
    """Tell whether the programs that try vector instructions were compiled."""
    return _compiled("*", "*.load_ok")


def _compiled(*place):
    """Tell whether something was compiled that all processes share."""
    from torch._inductor.runtime.cache_dir_utils import default_cache_dir

    return bool(glob.glob(os.path.join(glob.escape(default_cache_dir()), *place)))
