"""Adapts TensorFlow 2.x: placing arrays, synchronising, the execution modes and the settings in force."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ...program import Unsupported
from .. import halves, loaded, precisions, xla
from . import clustering, mirrored, placement
from . import gpu as gpu
from .compiler import Compiler
from .programs import cross_entropy, inference, variable_training, wide

__all__ = ["Adapter", "cross_entropy", "inference", "variable_training", "wide"]


class Adapter:
    """TensorFlow on one device, in one mode, at one precision."""

    def __init__(self, mode, device, precision, threads):
        if mode == clustering.AUTO:
            clustering.ask()
        gpus = tf.config.list_physical_devices("GPU")
        if device == "gpu" and not gpus:
            raise Unsupported("tensorflow {} sees no GPU".format(tf.__version__))
        if device == "gpu" and not hasattr(getattr(tf.test, "experimental", None), "sync_devices"):
            raise Unsupported(
                "tensorflow {} lacks tf.test.experimental.sync_devices (2.12 brought it), which waits for a GPU".format(
                    tf.__version__
                )
            )
        if device == "cpu" and gpus:
            tf.config.set_visible_devices([], "GPU")
        for found in gpus if device == "gpu" else ():
            tf.config.experimental.set_memory_growth(found, True)
        if mode == mirrored.MODE and device == "gpu":
            mirrored.verify_gpus()
        self._shared = halves.DEVICES if mode == mirrored.MODE and device == "cpu" else 1
        if self._shared > 1:
            mirrored.divide_processor(threads)
        else:
            tf.config.threading.set_intra_op_parallelism_threads(threads)
        # As by default: with one, a graph's operations that do not need each other wait for each other, and on two
        # processors mlp-train/small and transformer-train/mini took 1.3 times as long.
        tf.config.threading.set_inter_op_parallelism_threads(threads)
        # TensorFlow uses TF32 by default.
        tf.config.experimental.enable_tensor_float_32_execution(precisions.leaves_tf32(precision, device))
        self.dtype = tf.as_dtype(precisions.array_type(precision, device, mixes=True))
        if precision in precisions.NEW_ON_GPUS:
            for found in gpus if device == "gpu" else ():
                precisions.verify_gpu(precision, gpu.capability(found))
        self.device = "/GPU:0" if device == "gpu" else "/CPU:0"
        self._gpus = gpus
        self._mode = mode
        self._collected = placement.Collected()
        self._compiler = Compiler(mode, self._collected)
        self._program_settings = []
        self._kept = None
        self._multiply = tf.function(tf.linalg.matmul, jit_compile=True)

    def put(self, array):
        array = np.asarray(array)
        with tf.device(self.device):
            placed = tf.constant(array, dtype=self.dtype if array.dtype.kind == "f" else None)
        if self.device == "/GPU:0":
            self._collected.begin()
        return placed

    def get(self, value):
        value = tf.convert_to_tensor(value)
        # Cast on the host: on a GPU the wide copy would be in the peak of its memory.
        return value.numpy().astype(np.float64, copy=False) if value.dtype.is_floating else value.numpy()

    def synchronize(self, outputs):
        if self.device == "/GPU:0":
            tf.test.experimental.sync_devices()

    def transform(self, function, training=False, settings=None, part="module", signature=None):
        """Transform; ``signature`` is that of a tf.function with open shapes, as op-by-op execution has none."""
        if settings is not None:
            self._program_settings.append(settings)
        return self._compiler.apply(function, training, signature)

    def settings(self):
        found = {
            "threads": tf.config.threading.get_intra_op_parallelism_threads() * self._shared,
            "interop threads": tf.config.threading.get_inter_op_parallelism_threads(),
        }
        on_gpu = self.device == "/GPU:0"
        inline = not on_gpu and tf.config.experimental.get_synchronous_execution()
        found["dispatch"] = "inline" if inline else "asynchronous"
        tf32 = on_gpu and bool(tf.config.experimental.tensor_float_32_execution_enabled())
        if self.dtype == tf.float32:
            # Programs of mixed precision say what their own products are.
            found["float32 matmul"] = "tf32" if tf32 else "highest"
        if on_gpu:
            found["TF32 matmul"] = found["TF32 convolution"] = tf32
            found.update(gpu.settings(self._gpus[0]))
            if self._collected.operations():
                # TensorFlow tells of no graph that XLA compiles whole, all of which is on one device.
                found["on the processor"] = ", ".join(self._collected.on_processor()) or "nothing"
            if self._mode in clustering.BY_XLA:
                found.update(xla.gpu_settings())
        else:
            found.update(loaded.allocator())
        found["compiled"] = self.compilation()["compiled"]
        for read in self._program_settings:
            found.update(read())
        found.update(self._compiler.settings())
        return found

    def settle(self):
        """Stop collecting graphs. Raises Unsupported for what is computed elsewhere or otherwise than the mode has it.

        Steps of the check have made all graphs by now.
        """
        self._compiler.settle()
        self._collected.end()
        if self.device == "/GPU:0":
            placement.verify(self._collected.on_processor())

    def compilation(self):
        return self._compiler.report()

    def versions(self):
        return {"tensorflow": tf.__version__}

    def memory(self):
        if self.device != "/GPU:0":
            return {}
        found = [tf.config.experimental.get_memory_info(name) for name in self._names()]
        return {"allocated_peak_bytes": sum(int(each["peak"]) for each in found)}

    def forget_peak(self):
        """Forget what was needed by the kernels that TensorFlow has tried; before 2.6 it cannot do that."""
        forget = getattr(tf.config.experimental, "reset_memory_stats", None)
        if self.device == "/GPU:0" and forget is not None:
            for name in self._names():
                forget(name)

    def _names(self):
        names = mirrored.names() if self._mode == mirrored.MODE else [self.device]
        return [name.strip("/") for name in names]

    def limit_memory(self, limit_bytes):
        if self.device != "/GPU:0":
            raise Unsupported("tensorflow limits the memory of GPUs only")
        if self._mode == mirrored.MODE:
            raise Unsupported("the memory of one GPU is limited, and mode mirrored has two")
        gpu.limit(self._gpus[0], limit_bytes)

    def multiply(self, left, right):
        return self._multiply(left, right)

    def copy(self, array):
        size = int(array.shape.num_elements())
        with tf.device(self.device):
            kept = self._kept
            if kept is None or kept.shape != (1, size) or kept.dtype != array.dtype:
                kept = self._kept = tf.zeros((1, size), array.dtype)
            # This copies into existing memory; a copying operation would map new memory every time.
            tf.raw_ops.InplaceUpdate(x=kept, i=tf.constant([0]), v=tf.reshape(array, (1, size)))
            return tf.reshape(kept, array.shape)
