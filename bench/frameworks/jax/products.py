"""Reads back in which types a program multiplies, and whether cuDNN computes its attention, from what JAX traces."""

from __future__ import annotations

import jax
from jax import lax

from .. import products

#: Primitives that multiply, and what the names of cuDNN's attention contain.
PRODUCTS, FUSED = ("dot_general", "conv_general_dilated"), "dot_product_attention_fwd"
#: {type of narrow factors: what all adapters call them}
NARROW = {"bfloat16": "bf16", "float16": "fp16"}


class Products(products.Products):
    """The products of a function of arrays; most often it is given tracers."""

    def described(self, arguments):
        return jax.tree_util.tree_map(shaped, arguments)

    def traced(self, function, described):
        return in_words(jax.make_jaxpr(function)(*described), jax.default_backend())


def shaped(array):
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


def equations(traced):
    """List the equations of a jaxpr and of those within it."""
    found = []
    for equation in getattr(traced, "jaxpr", traced).eqns:
        found.append(equation)
        for value in equation.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(inner, "eqns") or hasattr(inner, "jaxpr"):
                    found += equations(inner)
    return found


def in_words(traced, platform):
    """Name the precisions of the products of floats: ``bf16``, or ``bf16 and highest`` where some are wide."""
    found = [equation for equation in equations(traced) if equation.primitive.name in PRODUCTS]
    return " and ".join(sorted({word_of(product, platform) for product in found} - {None}))


def word_of(product, platform):
    """Name the precision of a product; None for integers and float64.

    XLA computes products of float32 in TF32 on a GPU unless they ask for the highest precision, and those of bfloat16
    alike in all (``GetBlasComputationType`` in xla/service/gpu/matmul_utils.cc).
    """
    types = {variable.aval.dtype.name for variable in product.invars[:2]}
    if "float32" not in types:
        return NARROW.get(min(types))
    asked = product.params["precision"]
    highest = asked is not None and lax.Precision.HIGHEST in (asked if isinstance(asked, tuple) else (asked,))
    return "highest" if platform == "cpu" or highest else "tf32"


def is_fused(traced):
    """Tell whether a kernel of cuDNN's computes attention."""
    return any(FUSED in equation.primitive.name for equation in equations(traced))
