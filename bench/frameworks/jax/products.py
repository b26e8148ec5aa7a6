"""Reads back in which types a program multiplies, and whether cuDNN computes its attention, from what JAX traces."""

from __future__ import annotations

import jax
from jax import lax

from .. import precisions

#: Primitives that multiply, and what the names of cuDNN's attention contain.
PRODUCTS, FUSED = ("dot_general", "conv_general_dilated"), "dot_product_attention_fwd"
#: {type of narrow factors: what all adapters call them}
NARROW = {"bfloat16": "bf16", "float16": "fp16"}


class Products:
    """The products of a function of arrays in mixed precision, by the types and shapes of its arguments."""

    def __init__(self, function, precision):
        self._function = function
        self._mixed = precision == precisions.MIXED
        self._given = self._words = None

    def __call__(self, *arguments):
        """Call the function; the first arguments, most often tracers, are noted."""
        self.note(*arguments)
        return self._function(*arguments)

    def note(self, *arguments):
        if self._mixed and self._given is None:
            self._given = jax.tree_util.tree_map(shaped, arguments)

    def settings(self):
        """Return the setting of ``float32 matmul`` in mixed precision, once there have been arguments."""
        if self._words is None and self._given is not None:
            self._words = in_words(jax.make_jaxpr(self._function)(*self._given), jax.default_backend())
        return {"float32 matmul": self._words} if self._words else {}


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
    products = [equation for equation in equations(traced) if equation.primitive.name in PRODUCTS]
    return " and ".join(sorted({word_of(product, platform) for product in products} - {None}))


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
