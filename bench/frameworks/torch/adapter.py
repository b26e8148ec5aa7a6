"""Adapts PyTorch 1.x and 2.x: placing arrays, synchronising, the execution modes and the settings in force."""

from __future__ import annotations

import contextlib

import numpy as np
import torch

from ...program import Unsupported
from .. import halves, precisions
from . import layouts, lazy, once, parallel
from . import settings as settings
from .compiler import AUTOCAST, Compiler, end_pools
from .optimizers import make_optimizer
from .pair import SHARED, memory
from .programs import inference, kernel
from .training import module_training

__all__ = ["Adapter", "inference", "kernel", "make_optimizer", "module_training"]


class Adapter:
    """PyTorch on one device, in one mode, at one precision."""

    def __init__(self, mode, device, precision, threads):
        if device == "gpu" and not torch.cuda.is_available():
            raise Unsupported("torch {} sees no GPU".format(torch.__version__))
        if device == "gpu" and torch.cuda._is_in_bad_fork():
            raise Unsupported(
                "an import of torch {} started CUDA, which then works in no forked process; "
                'set workers = "own" in the profile'.format(torch.__version__)
            )
        if mode == AUTOCAST and precision != "float32":
            raise Unsupported("mode autocast casts what is float32 to bfloat16: use eager for {}".format(precision))
        self._mode = mode
        self._lazy = mode in lazy.MODES
        self.device = lazy.device(device) if self._lazy else torch.device("cuda" if device == "gpu" else "cpu")
        self.dtype = getattr(torch, precisions.array_type(precision, device, mixes=True))
        self._tf32 = precision == precisions.TF32
        #: What the GPU has to have. Where a second process is forked, the program asks its GPU.
        self._needed = "bfloat16" if mode == AUTOCAST else precision
        self._compiler = Compiler(mode, self.device)
        self._program_settings = []
        self._kept = torch.empty(0, dtype=self.dtype)
        if mode in parallel.MODES:
            parallel.verify(mode, device)
        self._divides = mode == parallel.MODE
        if self._divides and device == "gpu" and self._tf32:
            raise Unsupported("mode ddp asks no GPU for TF32 before it has forked: see {}".format(parallel.ONE_PROCESS))
        if self._divides:
            SHARED.ask(device, threads)
        else:
            torch.set_num_threads(threads)
        # As in TensorFlow; PyTorch starts them where a program forks, and none of ours does.
        if torch.get_num_interop_threads() != threads:
            torch.set_num_interop_threads(threads)
        # DataParallel starts threads in each step, in which cuDNN would time its kernels each time.
        settings.demand(self.device, tf32=self._tf32, tuned=mode != parallel.ONE_PROCESS)

    def put(self, array):
        if self.device.type == "cuda" and not self._divides:
            # Asking the GPU starts CUDA, whose memory on the host is not part of an import.
            settings.verify_gpu(self._needed, self.device)
        array = np.asarray(array)
        # Class indices are int64 in PyTorch; cross_entropy takes no others in 1.x.
        dtype = self.dtype if array.dtype.kind == "f" else torch.int64
        # A copy in PyTorch's own memory, where arrays begin at cache lines: in NumPy's, GEMM was 6 to 9 % slower.
        # From a flat one: NumPy gives an axis of length 1 any stride, and by strides PyTorch chooses layouts.
        device = torch.device("cpu") if self._lazy or self._divides else self.device
        placed = torch.tensor(array.reshape(-1), dtype=dtype, device=device).reshape(array.shape)
        if self._lazy:
            return placed.to(self.device)
        return SHARED.place(placed) if self._divides else layouts.placed(placed, self._mode)

    def get(self, value):
        if not torch.is_tensor(value):
            # Keras makes numbers and arrays of NumPy's of what it returns.
            return np.asarray(value, np.float64)
        value = value.detach().cpu()
        return (value.double() if value.is_floating_point() else value).numpy()

    def synchronize(self, outputs):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self._lazy:
            lazy.wait()

    def transform(self, function, training=False, settings=None, part="module"):
        if settings is not None:
            self._program_settings.append(settings)
        return self._compiler.apply(function, training, part)

    def settings(self):
        found = settings.read(self.device)
        if self.dtype == torch.float32:
            # Programs of mixed precision say what their autocast makes of it.
            found["float32 matmul"] = settings.float32_matmul(self.device)
        found["dispatch"] = "asynchronous" if self.device.type == "cuda" else "inline"
        found.update(self._compiler.settings())
        found["compiled"] = self.compilation()["compiled"]
        for read in self._program_settings:
            found.update(read())
        return lazy.described(found) if self._lazy else found

    def compilation(self):
        return self._compiler.report()

    def versions(self):
        found = {"torch": torch.__version__}
        found.update(settings.library_versions())
        return dict(found, **lazy.versions()) if self._lazy else found

    def memory(self):
        if self.device.type != "cuda":
            return {}
        if self._divides:
            return SHARED.pair.memory() if SHARED.pair is not None else {}
        found = [memory(device) for device in self._devices()]
        return {name: sum(each[name] for each in found) for name in found[0]}

    def forget_peak(self):
        """Forget the workspaces of kernels that cuDNN has tried; blocks that the allocator keeps stay reserved."""
        if self.device.type != "cuda":
            return
        if self._divides:
            if SHARED.pair is not None:
                SHARED.pair.forget_peak()
            return
        for device in self._devices():
            torch.cuda.reset_peak_memory_stats(device)

    def _devices(self):
        return range(halves.DEVICES) if self._mode == parallel.ONE_PROCESS else [self.device]

    def limit_memory(self, limit_bytes):
        if self.device.type != "cuda":
            raise Unsupported("torch limits the memory of GPUs only")
        if self._divides:
            raise Unsupported("mode ddp limits no memory before it has forked")
        total = torch.cuda.get_device_properties(self.device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, limit_bytes / total), self.device)

    def warm(self):
        """Compile something small: Inductor precompiles a header, half a minute's work, in its first compilation.

        And it tries vector instructions with small programs.
        """
        # Older versions have no such folder: each cell tries for itself there.
        with contextlib.suppress(ImportError):
            once.use_common_folder()
        # Presets precompile the same, and one mode of them compiles no function of this kind.
        mode = self._mode if self._mode == "aot-inductor" else "compile"
        compiled = Compiler(mode, self.device).apply(lambda value: value * 2 + 1, training=False, part="module")
        with torch.no_grad():
            self.synchronize({"out": compiled(self.put(np.ones((64, 64))))})

    def settle(self):
        end_pools()

    def multiply(self, left, right):
        if self._lazy:
            return lazy.stepping(torch.mm)(left, right)
        with torch.no_grad():
            return torch.mm(left, right, out=self._buffer(left))

    def copy(self, array):
        if self._lazy:
            return lazy.stepping(torch.clone)(array)
        with torch.no_grad():
            return self._buffer(array).copy_(array)

    def _buffer(self, like):
        # Only one buffer is kept: matrices grow from call to call.
        if self._kept.shape != like.shape or self._kept.dtype != like.dtype or self._kept.device != like.device:
            self._kept = torch.zeros_like(like)
        return self._kept
