"""Runs inside a TensorFlow environment: optimizers, batches on two devices, the logic of a GPU that is not there."""

from __future__ import annotations

import os
import time
from unittest import mock

import numpy as np
import tensorflow as tf

from bench.cell import MIXED
from bench.frameworks.tensorflow import gpu as gpu
from bench.frameworks.tensorflow import mirrored, products
from bench.frameworks.tensorflow.adapter import Adapter, variable_training
from bench.program import Transform, Unsupported
from bench.registry import BUILT_IN

OPTIMIZERS = (
    {"name": "sgd", "learning_rate": 0.05, "momentum": 0.9},
    {"name": "adam", "learning_rate": 1e-2, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
)
#: Modes whose calls run a graph.
GRAPHS = ("function", "function-concrete", "xla", "xla-concrete", "xla-auto")


def examine(mode):
    found = divided() if mode == mirrored.MODE else {}
    return {
        **found,
        "limit": limit(),
        "peaks": peaks(mode),
        "fetched": fetched(mode),
        "cannot wait": cannot_wait(mode),
        "tf32": tf32(mode),
        "narrow": narrow(mode),
        "placed": placed(mode) if mode in ("eager", "function") else {},
        "without NCHW": without_channels_first(mode),
        "settings": [read({}), read({"TF_CUDNN_USE_AUTOTUNE": "0", "TF_GPU_ALLOCATOR": "x"})],
        "losses": {settings["name"]: losses(mode, settings) for settings in OPTIMIZERS},
        "seconds": seconds(mode) if mode in GRAPHS else {},
    }


def without_channels_first(mode):
    """Say why a convolution in NCHW is refused where TensorFlow has no kernel for it, as without oneDNN."""
    said = (
        "{{function_node __wrapped__Conv2D}} The Conv2D op currently only supports the NHWC tensor format [Op:Conv2D]"
    )
    size = {"batch": 2, "side": 4, "channels": 3}
    specification = BUILT_IN.specification("conv2d-nchw")
    random = np.random.RandomState(0)
    drawn = specification.parameters(size, random), specification.batch(size, random)
    with mock.patch.object(tf.nn, "conv2d", side_effect=tf.errors.UnimplementedError(None, None, said)):
        try:
            BUILT_IN.implementation("conv2d-nchw", "tensorflow")(size, *drawn, Transform(mode, lambda made, **_: made))
        except Unsupported as error:
            return str(error)
    return None


def divided():
    """Divide eight numbers among two devices; return those of each, and why nine cannot be divided."""
    mirrors = mirrored.Mirrors()
    (numbers,) = mirrors._halves((tf.range(8),))
    parts = sorted(mirrored.strategy().experimental_local_results(numbers), key=lambda part: part.device)
    assert len({part.device for part in parts}) == 2
    try:
        mirrors._halves((tf.range(9),))
    except Unsupported as error:
        found = {"halves": [part.numpy().tolist() for part in parts], "odd": str(error)}
    return dict(found, **divided_gpus())


def divided_gpus():
    """Return why one GPU is too few, and the names of the devices where two can be seen."""
    with mock.patch.object(tf.config, "get_visible_devices", return_value=["a GPU", "another"]):
        found = {"names": mirrored.names()}
    with mock.patch.object(tf.config, "list_physical_devices", return_value=["a GPU"]):
        try:
            mirrored.verify_gpus()
        except Unsupported as error:
            return dict(found, **{"one GPU": str(error)})


def losses(mode, settings):
    """Train three times for three steps, from a reset, from another and onward; return the losses of each."""

    def loss(variables, inputs):
        return tf.reduce_mean(tf.square(tf.linalg.matvec(inputs, variables["weight"]) - 1.0))

    adapter = Adapter(mode, "cpu", "float32", int(os.environ["OMP_NUM_THREADS"]))
    inputs = adapter.put(np.random.RandomState(0).standard_normal((8, 4)))
    parameters = {"weight": adapter.put(np.ones(4))}
    program = variable_training(loss, parameters, Transform(mode, adapter.transform, "step"), settings)
    found = []
    for begin in (program.reset, program.reset, lambda: None):
        begin()
        found.append([float(program.step(inputs)["loss"]) for _ in range(3)])
    return found


def seconds(mode):
    """Return the seconds of a long call, and of reading what it returned: as it is, and dispatched asynchronously.

    They are the processor's seconds, the fewest of several calls: other programs may stop this one at any moment.
    """
    adapter = Adapter(mode, "cpu", "float32", int(os.environ["OMP_NUM_THREADS"]))

    def multiplied(matrix):
        return tf.while_loop(lambda _: True, lambda made: (tf.tanh(made @ matrix),), (matrix,), maximum_iterations=400)

    function, matrix = adapter.transform(multiplied), adapter.put(np.random.RandomState(0).standard_normal((400, 400)))
    function(matrix)
    found = {}
    for name, synchronous in (("inline", True), ("asynchronous", False)):
        tf.config.experimental.set_synchronous_execution(synchronous)
        assert adapter.settings()["dispatch"] == name
        seen = []
        for _ in range(3):
            start = time.process_time()
            (made,) = function(matrix)
            returned = time.process_time()
            made.numpy()
            seen.append([returned - start, time.process_time() - returned])
        found[name] = [min(call_s for call_s, _ in seen), min(read_s for _, read_s in seen)]
    tf.config.experimental.set_synchronous_execution(True)
    return found


def fetched(mode):
    """Fetch numbers of each type with no cast on the device; return the types and the sums."""
    adapter, found = Adapter(mode, "cpu", "float32", int(os.environ["OMP_NUM_THREADS"])), {}
    with mock.patch.object(tf, "cast", side_effect=AssertionError("on the device")):
        for name in ("bfloat16", "float16", "float32", "float64", "int32"):
            array = adapter.get(tf.constant([1.5, 2.0] if "float" in name else [1, 2], name))
            found[name] = [array.dtype.name, float(array.sum())]
    return found


def cannot_wait(mode):
    """Return why a version without a function that waits for a GPU measures none."""
    with (
        mock.patch.object(tf.config, "list_physical_devices", return_value=["a GPU"]),
        mock.patch.object(tf.test, "experimental", None),
    ):
        try:
            Adapter(mode, "gpu", "float32", int(os.environ["OMP_NUM_THREADS"]))
        except Unsupported as error:
            return str(error)


def limit():
    """Limit a GPU to 2 GiB; return what TensorFlow is asked for, in order."""
    asked = []
    with (
        mock.patch.object(
            tf.config.experimental, "set_memory_growth", lambda device, enable: asked.append(["growth", device, enable])
        ),
        mock.patch.object(
            tf.config,
            "set_logical_device_configuration",
            lambda device, sizes: asked.append(["devices", device, [size.memory_limit for size in sizes]]),
        ),
    ):
        gpu.limit("a GPU", 2 << 30)
    return asked


def peaks(mode):
    """Return which devices forget the peaks of their memory: a GPU, one in an old version, and a processor."""
    forgotten = []
    threads = int(os.environ["OMP_NUM_THREADS"])
    adapter = Adapter(mode, "cpu", "float32", threads)
    with (
        mock.patch.object(tf.config.experimental, "reset_memory_stats", forgotten.append),
        mock.patch.object(tf.config.experimental, "get_memory_info", return_value={"current": 4, "peak": 5}),
    ):
        adapter.forget_peak()
        processor = list(forgotten)
        with mock.patch.object(adapter, "device", "/GPU:0"):
            adapter.forget_peak()
            memory = adapter.memory()
    with mock.patch.object(tf.config, "experimental", object()), mock.patch.object(adapter, "device", "/GPU:0"):
        old = adapter.forget_peak()
    return {"forgotten": forgotten, "memory": memory, "old": old, "processor": processor}


def tf32(mode):
    """Ask for TF32 on GPUs that exist for a moment only, and on a processor; return what is in force, or why not."""
    found = {}
    for name, details in (
        ("new", {"compute_capability": (8, 0)}),
        ("old", {"compute_capability": (7, 5)}),
        ("other", {}),
    ):
        with (
            mock.patch.object(tf.config, "list_physical_devices", return_value=["a GPU"]),
            mock.patch.object(tf.config.experimental, "set_memory_growth"),
            mock.patch.object(tf.config.experimental, "get_memory_growth", return_value=True),
            mock.patch.object(tf.config.experimental, "get_device_details", return_value=details),
        ):
            try:
                adapter = Adapter(mode, "gpu", "tf32", int(os.environ["OMP_NUM_THREADS"]))
                found[name] = {"type": adapter.dtype.name, "settings": adapter.settings()}
            except Unsupported as error:
                found[name] = str(error)
    try:
        Adapter(mode, "cpu", "tf32", int(os.environ["OMP_NUM_THREADS"]))
    except Unsupported as error:
        found["processor"] = str(error)
    Adapter(mode, "cpu", "float32", int(os.environ["OMP_NUM_THREADS"]))
    found["words"] = worded()
    return dict(found, after=tf.config.experimental.tensor_float_32_execution_enabled())


def worded():
    """Name the products of a program with a narrow and a wide one, with TF32 and without."""

    def multiply(wide):
        narrow = tf.cast(wide, tf.bfloat16)
        return wide @ wide + tf.cast(narrow @ narrow, tf.float32)

    definition = tf.function(multiply).get_concrete_function(tf.TensorSpec((2, 2))).graph.as_graph_def()
    found = []
    for enabled in (True, False):
        tf.config.experimental.enable_tensor_float_32_execution(enabled)
        found.append(products.in_words(definition))
    return found


def narrow(mode):
    """Return why bfloat16 is refused on GPUs that exist for a moment only, or None."""
    found = {precision: {} for precision in ("bfloat16", MIXED)}
    for name, details in (("new", (8, 0)), ("old", (7, 5)), ("other", None)):
        for precision, given in found.items():
            with (
                mock.patch.object(tf.config, "list_physical_devices", return_value=["a GPU"]),
                mock.patch.object(tf.config.experimental, "set_memory_growth"),
                mock.patch.object(
                    tf.config.experimental, "get_device_details", return_value={"compute_capability": details}
                ),
            ):
                given[name] = None
                try:
                    Adapter(mode, "gpu", precision, int(os.environ["OMP_NUM_THREADS"]))
                except Unsupported as error:
                    given[name] = str(error)
    return found


def placed(mode):
    """Multiply on a processor in a cell of a GPU, which it plays, and add; return what is found there, and refused."""
    found = {}
    for name, act in (("without", lambda matrix: matrix + 1.0), ("reason", lambda matrix: matrix @ matrix + 2.0)):
        adapter = Adapter(mode, "cpu", "float32", int(os.environ["OMP_NUM_THREADS"]))
        matrix = adapter.put(np.ones((7, 7)))
        adapter.device = "/GPU:0"
        adapter._collected.begin()
        adapter.transform(act)(matrix)
        found["operations"] = adapter._collected.on_processor()
        found[name] = None
        try:
            adapter.settle()
        except Unsupported as error:
            found[name] = str(error)
    return found


def read(variables):
    with (
        mock.patch.dict(os.environ, variables),
        mock.patch.object(tf.config.experimental, "get_memory_growth", return_value=True),
    ):
        return gpu.settings("a GPU")
