"""Runs inside a JAX environment: when attention is cuDNN's, what it is lowered to, and whether it mixes the same."""

from __future__ import annotations

import contextlib
import re
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from bench.cell import MIXED
from bench.frameworks.jax import attention
from bench.program import Transform
from bench.workloads.attention_full import jax as attention_full
from bench.workloads.transformer_encoder import jax as transformer


def examine():
    # What is replaced below is not public: older versions have other functions.
    if jax.__version_info__ < (0, 10):
        return {}
    return {"forms": forms(), "kernels": kernels(), "mixes": mixes()}


@contextlib.contextmanager
def cudnn_here(capability="9.0", backend="gpu"):
    """Stand in for a GPU and for cuDNN; whether cuDNN takes a shape is decided by JAX's own checks."""
    from jax._src.cudnn import fused_attention_stablehlo as cudnn

    device = mock.Mock(compute_capability=capability)
    with (
        mock.patch.object(jax, "default_backend", return_value=backend),
        mock.patch.object(jax, "devices", return_value=[device]),
        mock.patch.object(cudnn, "check_cudnn_version", return_value=91300),
    ):
        yield


def form(dtype="bfloat16", width=64, mode="jit", precision="", causal=True, **machine):
    with cudnn_here(**machine):
        transform = Transform(mode, None, precision=precision or dtype)
        found = [attention.form((2, 8, 2, width), jnp.dtype(dtype), transform, causal, training) for training in (0, 1)]
    assert found[0] == found[1], "the same forward and with its gradient"
    return found[0]


def without_implementations(query, key, value, is_causal=False):
    """Attend as old versions did, which let nobody choose."""


def forms():
    """Return the form of attention of each kind of cell, on a GPU with cuDNN and elsewhere."""
    transform = Transform("jit", None, precision="bfloat16")
    here = attention.form((2, 8, 2, 64), jnp.bfloat16, transform, causal=True)
    with (
        mock.patch.object(jax, "default_backend", return_value="gpu"),
        mock.patch.object(jax, "devices", return_value=[mock.Mock(compute_capability="9.0")]),
    ):
        without = attention.form((2, 8, 2, 64), jnp.bfloat16, transform, causal=True)
    with cudnn_here(), mock.patch.object(jax.nn, "dot_product_attention", without_implementations):
        old = attention.form((2, 8, 2, 64), jnp.bfloat16, transform, causal=True)
    return {
        "bfloat16": form(),
        "float16": form("float16"),
        "mixed": form("float32", precision=MIXED),
        "eager": form(mode="eager"),
        "full": form(causal=False),
        "float32": form("float32"),
        "narrow heads": form(width=4),
        "pmap": form(mode="pmap"),
        "old GPU": form(capability="7.5"),
        "another maker": form(capability="gfx942"),
        "on a processor beside a GPU": form(backend="cpu"),
        "here": here,
        "without cuDNN": without,
        "old JAX": old,
    }


def kernels():
    """Return which kernels of cuDNN's a step calls when it is lowered for CUDA, forward and with its gradient."""
    size = {"sequence": 8, "width": 16, "heads": 2}
    projected = jnp.zeros((16, 48), jnp.bfloat16)

    def mixed(projected):
        return transformer.attend(projected, size, True, attention.FUSED).astype(jnp.float32).sum()

    found = []
    with cudnn_here():
        for function in (mixed, jax.grad(mixed)):
            lowered = jax.jit(function).trace(projected).lower(lowering_platforms=("cuda",)).as_text()
            found.append(sorted(set(re.findall(r"@(__cudnn\S*?)\(", lowered))))
    return found


def mixes():
    """Return how far the kernel's axes, mask and scale lead from composed attention; XLA plays the kernel."""
    size = {"sequence": 8, "width": 16, "heads": 2}
    random = np.random.default_rng(3)
    projected = jnp.asarray(random.standard_normal((16, 48)), jnp.float32)
    parts = tuple(jnp.asarray(random.standard_normal((2, 3, 8, 4)), jnp.float32) for _ in range(3))

    def by_xla(queries, keys, values, causal):
        return jax.nn.dot_product_attention(queries, keys, values, is_causal=causal, implementation="xla")

    def long(causal, form):
        transform = Transform("eager", lambda function, **_: function)
        with mock.patch.object(attention, "form", return_value=form):
            return attention_full.build({"sequence": 8}, {}, parts, transform, causal).step(*parts)["mixed"]

    found = []
    with mock.patch.object(attention, "attend", by_xla):
        for causal in (False, True):
            short = [
                transformer.attend(projected, size, causal, form) for form in (attention.COMPOSED, attention.FUSED)
            ]
            for composed, fused in (short, [long(causal, form) for form in (attention.COMPOSED, attention.FUSED)]):
                found.append(float(jnp.abs(composed - fused).max()))
    return found
