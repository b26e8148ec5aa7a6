"""Runs inside a JAX environment: the logic of a GPU that is not there, and batches on two devices."""

from __future__ import annotations

import os
from unittest import mock

import jax
import jax.numpy as jnp
import jax_attention
import numpy as np

from bench.cell import MIXED
from bench.frameworks.jax import compiler, parallel, products
from bench.frameworks.jax import gpu as gpu
from bench.frameworks.jax.adapter import Adapter
from bench.program import Unsupported


def examine(mode):
    kept = jax.config.jax_compilation_cache_dir
    found = {"keeps code": kept is not None and kept == os.environ.get("JAX_COMPILATION_CACHE_DIR"), "counts": counts()}
    found["pmap keeps code"] = pmap_keeps_code()
    found.update({"shares": shares(), "allocators": allocators(), "peaks": peaks(), "late": late(), "tf32": tf32()})
    found.update(narrow=narrow(), asked=asked(), words=words(), waits=waits())
    found["attention"] = jax_attention.examine()
    found["compiles for processor"] = compiled_for_processor()
    if mode in parallel.MODES:
        found.update(divided(mode))
    return dict(found, ahead=ahead()) if mode == "jit-aot" else found


def counts():
    """Return how many executables a compiled function tells of by a method, by a number, and where it tells nothing."""
    numbers = mock.Mock(_cache_size=lambda: 2), mock.Mock(_cache_size=3), mock.Mock(spec=[])
    return [compiler.executables(jitted) for jitted in numbers]


def pmap_keeps_code():
    """Tell it of pmap as it is, and as it was in 0.4: an object that can be called."""
    with mock.patch.object(jax, "pmap", return_value=mock.Mock()):
        old = parallel.pmap_keeps_code()
    return [parallel.pmap_keeps_code(), old]


def divided(mode):
    """Divide eight numbers among two devices; return those of each, and why nine cannot be divided."""
    adapter = Adapter(mode, "cpu", "float32", 2)
    replicas = parallel.Replicas(mode)
    assert replicas._waits
    (numbers,) = replicas._halves((adapter.put(np.arange(8)),))
    shards = sorted(numbers.addressable_shards, key=lambda shard: shard.device.id)
    try:
        replicas._halves((adapter.put(np.arange(9)),))
    except Unsupported as error:
        found = {"halves": [np.ravel(shard.data).tolist() for shard in shards], "odd": str(error)}
    if mode == parallel.PMAP:
        found["as pmap"] = numbers.sharding == jax.pmap(lambda array: array, axis_name=parallel.AXIS)(numbers).sharding
    return dict(found, **divided_gpus(mode))


def divided_gpus(mode):
    """Return why one GPU is too few, and what the settings say of a step that two compute, which processors play."""
    found = {}
    Adapter(mode, "gpu", "float32", 3)
    with mock.patch.object(jax, "devices", return_value=jax.devices()[:1]):
        try:
            parallel.Replicas(mode)
        except Unsupported as error:
            found["one GPU"] = str(error)
    replicas = parallel.Replicas(mode)
    replicas._waits = False
    return dict(found, gpus=replicas.settings([replicas.placed(np.ones(2))]))


def compiled_for_processor():
    """Tell whether forms for a processor are chosen in jit, op by op, and in jit on a GPU."""
    here = [compiler.compiles_for_processor(mode) for mode in ("jit", "eager")]
    with mock.patch.object(jax, "default_backend", return_value="gpu"):
        return [*here, compiler.compiles_for_processor("jit")]


def limited(**variables):
    """Limit a GPU of 8 GiB to 2; return the variables that say so, or why it is not done."""
    with mock.patch.dict(os.environ, variables), mock.patch.object(gpu, "total_bytes", return_value=8 << 30):
        try:
            gpu.limit(2 << 30)
        except Unsupported as error:
            return str(error)
        return {name: value for name, value in os.environ.items() if name.endswith("MEM_FRACTION")}


def shares():
    return [
        limited(),
        limited(XLA_CLIENT_MEM_FRACTION="0.9"),
        limited(XLA_PYTHON_CLIENT_ALLOCATOR="platform"),
    ]


def allocators():
    def name(**variables):
        with mock.patch.dict(os.environ, variables):
            return gpu.allocator()

    return [
        # What the host has set for every worker.
        name(),
        name(XLA_PYTHON_CLIENT_PREALLOCATE="true"),
        name(XLA_PYTHON_CLIENT_ALLOCATOR="platform"),
    ]


def peaks():
    return [
        gpu.peaks({"peak_bytes_in_use": 5, "pool_bytes": 9, "peak_pool_bytes": 12}),
        gpu.peaks({"peak_bytes_in_use": 5, "peak_pool_bytes": 0}),
        gpu.peaks({}),
    ]


def late():
    """Limit the memory of a GPU that an array is on already; return why that is refused."""
    adapter = Adapter("jit", "gpu", "float32", 2)
    adapter._found = object()
    try:
        adapter.limit_memory(1 << 30)
    except RuntimeError as error:
        return str(error)
    return None


def waits():
    """Tell whether what is put on a device is there when the call returns."""
    adapter = Adapter("jit", "cpu", "float32", 2)
    copied = mock.Mock()
    with mock.patch.object(jax, "device_put", return_value=copied):
        return adapter.put(np.ones(3)) is copied.block_until_ready.return_value


def tf32():
    """Ask for TF32 on GPUs that exist for a moment only, and on a processor; return what is in force, or why not."""
    found = {}
    for name, capability in (("new", "8.0"), ("old", "7.5"), ("other", "gfx942")):
        device = mock.Mock(platform="gpu", compute_capability=capability)
        with mock.patch.object(jax, "devices", return_value=[device]):
            adapter = Adapter("jit", "gpu", "tf32", 2)
            try:
                found[name] = {"type": adapter.dtype.name, "settings": adapter.settings()}
            except Unsupported as error:
                found[name] = str(error)
            found["after"] = Adapter("jit", "gpu", "float32", 2).settings()
    try:
        Adapter("jit", "cpu", "tf32", 2)
    except Unsupported as error:
        found["processor"] = str(error)
    return found


def narrow():
    """Return why bfloat16 is refused on GPUs that exist for a moment only, or None."""
    found = {precision: {} for precision in ("bfloat16", MIXED)}
    for name, capability in (("new", "8.0"), ("old", "7.5"), ("other", "gfx942")):
        device = mock.Mock(platform="gpu", compute_capability=capability)
        for precision, given in found.items():
            with mock.patch.object(jax, "devices", return_value=[device]):
                try:
                    given[name] = Adapter("jit", "gpu", precision, 2).device and None
                except Unsupported as error:
                    given[name] = str(error)
    return found


def asked():
    """Return what JAX is asked for by cells whose products are narrow, and some wide."""
    found = {}
    for precision in ("float32", "bfloat16", "float16", MIXED):
        Adapter("jit", "gpu", precision, 2)
        found[precision] = jax.config.jax_default_matmul_precision
    return found


def words():
    """Name the products of a program with a narrow and a wide one, within other functions, on a GPU and a processor."""

    @jax.jit
    def multiply(wide):
        narrow = wide.astype(jnp.bfloat16)
        return jax.lax.fori_loop(0, 2, lambda _, value: value @ value, wide) + (narrow @ narrow)

    found = {}
    for precision in ("default", "tensorfloat32", "highest"):
        with jax.default_matmul_precision(precision):
            traced = jax.make_jaxpr(multiply)(jnp.ones((2, 2)))
        found[precision] = [products.in_words(traced, platform) for platform in ("gpu", "cpu")]
    read = products.Products(lambda value: value @ value, MIXED)
    assert read.settings() == {}
    read(jnp.ones((2, 2), jnp.bfloat16))
    return dict(found, narrow=read.settings()["float32 matmul"])


def ahead():
    """Call a function with arrays of two shapes, twice each, then with one of another type."""
    adapter = Adapter("jit-aot", "cpu", "float32", 2)
    total = adapter.transform(lambda values: values.sum())
    short, long = (adapter.put(np.ones(count)) for count in (3, 5))
    sums = [float(total(values)) for values in (short, long, short, long)]
    report = adapter.compilation()
    try:
        total(adapter.put(np.ones(3, np.int32)))
    except TypeError as error:
        mistake = type(error).__name__
    return {"sums": sums, "executables": report["graphs"], "traces": report["traces"], "mistake": mistake}
