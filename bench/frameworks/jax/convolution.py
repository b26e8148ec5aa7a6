"""Convolves images, with gradients that XLA on a processor computes quickly in a loop, too.

There XLA puts the operands of a convolution into the order of its fast code, but not in the body of a loop (0.10). The
gradients that JAX derives have other orders, and XLA then computes them value by value.
"""

from __future__ import annotations

import functools

import jax
from jax import lax

#: The order of the fast code: images, kernels, results.
ORDER = ("NHWC", "HWIO", "NHWC")


def convolve(images, weight, stride, edge):
    """Convolve images (NHWC) with kernels (HWIO); ``edge`` zeros surround an image."""
    return lax.conv_general_dilated(images, weight, (stride, stride), [(edge, edge)] * 2, dimension_numbers=ORDER)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def convolve_in_loop(images, weight, stride, edge):
    """Convolve as ``convolve``; the gradients, too, have the order of the fast code."""
    return convolve(images, weight, stride, edge)


def forward(images, weight, stride, edge):
    return convolve(images, weight, stride, edge), (images, weight)


def backward(stride, edge, kept, slope):
    images, weight = kept
    # The rows and columns from the first place of a kernel to its last one; with a stride, some may lie beyond.
    spans = [(count - 1) * stride + 1 for count in slope.shape[1:3]]
    sides, kernels = images.shape[1:3], weight.shape[:2]
    around = [(kernel - 1 - edge, side + edge - span) for kernel, side, span in zip(kernels, sides, spans)]
    of_images = lax.conv_general_dilated(
        slope, weight[::-1, ::-1].swapaxes(2, 3), (1, 1), around, (stride, stride), dimension_numbers=ORDER
    )
    after = [(edge, kernel - 1 + span - side - edge) for kernel, side, span in zip(kernels, sides, spans)]
    of_weight = lax.conv_general_dilated(
        images.transpose(3, 1, 2, 0), slope.transpose(1, 2, 0, 3), (1, 1), after, None, (stride, stride), ORDER
    )
    return of_images, of_weight.transpose(1, 2, 0, 3)


convolve_in_loop.defvjp(forward, backward)


def of_mode(mode):
    """Return the convolution for a mode: outside of a loop the gradients of JAX are as fast or faster."""
    return convolve_in_loop if mode == "jit-loop" and jax.default_backend() == "cpu" else convolve
