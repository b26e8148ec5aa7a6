"""Reads back what a model computes with: the types of its layers, and on JAX the form of its attention."""

from __future__ import annotations

from .versions import BACKEND

#: {type in which layers compute: what all adapters call products of such factors}
NARROW = {"bfloat16": "bf16", "float16": "fp16"}


def products(model):
    """Return the setting of ``float32 matmul``: {} where every layer computes in the type of its weights."""
    layers = [layer for layer in model.layers if layer.weights]
    types = {layer.compute_dtype for layer in layers}
    if types <= {layer.variable_dtype for layer in layers}:
        return {}
    return {"float32 matmul": " and ".join(sorted(NARROW.get(each, "highest") for each in types))}


def attention(model, given):
    """Return the form of attention: what the model's maker has ``given``, except on JAX.

    There Keras takes cuDNN's kernel where it can, which is on GPUs of compute capability 8.0 and later, with cuDNN, in
    bfloat16 and float16, and for heads of a width that is divisible by 8 (``_can_use_flash_attention``). Where that
    fails, it goes on without. So the form is read off what JAX traces.
    """
    if given is None or BACKEND != "jax":
        return given
    import jax

    from ..jax.products import is_fused

    state = [[jax.ShapeDtypeStruct(variable.shape, variable.dtype) for variable in variables]
             for variables in (model.trainable_variables, model.non_trainable_variables)]  # fmt: skip
    # The length of a batch does not matter.
    inputs = [jax.ShapeDtypeStruct((1, *tensor.shape[1:]), tensor.dtype) for tensor in model.inputs]
    return "fused" if is_fused(jax.make_jaxpr(model.stateless_call)(*state, *inputs)) else "composed"
