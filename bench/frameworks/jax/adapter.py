"""Adapts JAX: placing arrays, synchronising, jit or op-by-op execution and the settings in force."""

from __future__ import annotations

import os

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
import optax

from ...program import Unsupported
from .. import loaded, precisions, xla
from . import dispatch as dispatch
from . import gpu as gpu
from . import parallel
from .compiler import Compiler
from .options import configure
from .programs import inference
from .training import functional_training, make_optimizer

__all__ = ["Adapter", "functional_training", "inference", "make_optimizer"]

# Small programs are cached, too, so that a warm start differs from a cold one. JAX_COMPILATION_CACHE_DIR, which the
# host sets, names the folder.
configure("jax_persistent_cache_min_compile_time_secs", 0)
configure("jax_persistent_cache_min_entry_size_bytes", -1)

#: What JAX calls the precisions of float32 matrix products, in the words of all adapters.
WORDS = {"highest": "highest", "float32": "highest", "tensorfloat32": "tf32", "high": "tf32", "bfloat16": "bf16"}
#: What JAX is asked for: full products. On an A100 or H100 its default is TF32; on a CPU this changes nothing.
FULL = "highest"


class Adapter:
    """JAX on one device, in one mode, at one precision."""

    def __init__(self, mode, device, precision, threads):
        if mode in parallel.MODES:
            parallel.ask(mode, device, threads)
        self._asked, self._found = device, None
        self.mode = mode
        self.dtype = jnp.dtype(precisions.array_type(precision, device, mixes=True))
        self._precision = precision
        self._compiler = Compiler(mode)
        self._program_settings = []
        self._kept = None
        self._copy = jax.jit(lambda buffer, array: jnp.copy(array), donate_argnums=0, keep_unused=True)
        self._multiply = jax.jit(jnp.matmul)
        if precision == "float64":
            jax.config.update("jax_enable_x64", True)
        self.keeps_code = mode != parallel.PMAP or parallel.pmap_keeps_code()
        # A worker that was forked after the import has a folder of its own.
        kept = os.environ.get("JAX_COMPILATION_CACHE_DIR") if self.keeps_code else None
        configure("jax_compilation_cache_dir", kept)
        jax.config.update("jax_default_matmul_precision", None if precisions.leaves_tf32(precision, device) else FULL)
        if device == "gpu" and mode == "jit-async":
            raise Unsupported("a GPU computes asynchronously in every mode: use jit")
        if device == "cpu":
            # Otherwise JAX starts CUDA, too, where there is a GPU.
            jax.config.update("jax_platforms", "cpu")
            dispatch.choose(dispatch.ASYNCHRONOUS if mode == "jit-async" else dispatch.INLINE)
            self.device  # noqa: B018 (a GPU waits for ``limit_memory``: its share is fixed when JAX first sees it)

    @property
    def device(self):
        if self._found is None:
            try:
                self._found = jax.devices(self._asked)[0]
            except RuntimeError as error:
                raise Unsupported("jax {} sees no {}: {}".format(jax.__version__, self._asked, error)) from error
            if self._found.platform != "cpu":
                precisions.verify_gpu(self._precision, gpu.capability(self._found))
        return self._found

    def put(self, array):
        array = np.asarray(array)
        if array.dtype.kind == "f":
            array = array.astype(self.dtype)
        # JAX returns while it still copies to a GPU, which would be a part of the first call's time.
        return jax.device_put(array, self.device).block_until_ready()

    def get(self, value):
        array = np.asarray(value)
        return array if array.dtype.kind in "iub" else array.astype(np.float64)

    def synchronize(self, outputs):
        jax.block_until_ready(outputs)

    def transform(self, function, training=False, settings=None, part="module", **options):
        """Transform; keyword ``donate_argnums`` is for jit, as op-by-op execution donates nothing."""
        if settings is not None:
            self._program_settings.append(settings)
        return self._compiler.apply(function, training, options)

    def settings(self):
        found = {"threads": self._threads(), "x64": bool(jax.config.jax_enable_x64)}
        if self.mode not in parallel.MODES:
            found["dispatch"] = dispatch.found()
        if self.device.platform == "cpu":
            found.update(loaded.allocator())
        else:
            found["allocator"] = gpu.allocator()
            found.update(xla.gpu_settings())
        if self.dtype == jnp.float32:
            # Programs of mixed precision say what their own products are.
            found["float32 matmul"] = self._float32_matmul()
            if self.device.platform != "cpu":
                # One precision for products and convolutions.
                found["TF32 matmul"] = found["TF32 convolution"] = found["float32 matmul"] == "tf32"
        found["compiled"] = self.compilation()["compiled"]
        for read in self._program_settings:
            found.update(read())
        return found

    def _threads(self):
        # XLA sizes its pool by the affinity at its start. With a GPU there may be a second pool of the same name.
        running = loaded.threads_named("tf_XLAEigen") if jax.default_backend() == "cpu" else 0
        return running or len(loaded.processors())

    def _float32_matmul(self):
        if self.device.platform == "cpu":
            return "highest"
        asked = jax.config.jax_default_matmul_precision
        if asked is None:
            return "highest" if gpu.capability(self.device) is None else "tf32"
        return WORDS.get(str(asked), str(asked))

    def compilation(self):
        return self._compiler.report()

    def versions(self):
        return {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "optax": optax.__version__}

    def memory(self):
        devices = parallel.devices(self.mode) if self.mode in parallel.MODES else [self.device]
        found = [gpu.peaks(device.memory_stats() or {}) for device in devices]
        return {name: sum(each[name] for each in found) for name in found[0]}

    def limit_memory(self, limit_bytes):
        if self._asked != "gpu":
            raise Unsupported("jax limits the memory of GPUs only")
        if self._found is not None:
            raise RuntimeError("the memory of a GPU is limited before anything is put there")
        gpu.limit(limit_bytes)

    def multiply(self, left, right):
        return self._multiply(left, right)

    def copy(self, array):
        kept = self._kept
        if kept is None or kept.shape != array.shape or kept.dtype != array.dtype:
            kept = jax.device_put(np.zeros(array.shape, array.dtype), self.device)
        # The buffer is donated, so that a copy maps no new memory.
        self._kept = self._copy(kept, array)
        return self._kept
