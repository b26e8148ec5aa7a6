"""Forms of 2 by 2 pooling in PyTorch, for all modes: max_pool2d, slices, quarters, and a maximum over reshaped axes."""

from __future__ import annotations

from bench.workloads.lenet_train.torch import max_pool, max_pool_by_quarters, max_pool_by_slices


def reshaped(images):
    """Pool by a maximum over reshaped axes, as in JAX."""
    rows, columns = images.shape[2] // 2, images.shape[3] // 2
    cropped = images[:, :, : 2 * rows, : 2 * columns]
    return cropped.unflatten(3, (columns, 2)).unflatten(2, (rows, 2)).amax((3, 5))


def everywhere(pool):
    modules = "bench.workloads.lenet_train.torch:", "bench.workloads.catdog_cnn_train.torch:"
    return {module + "pooling": lambda transform, device: pool for module in modules}


FORMS = {
    "max_pool2d": everywhere(max_pool),
    "slices": everywhere(max_pool_by_slices),
    "quarters": everywhere(max_pool_by_quarters),
    "reshaped": everywhere(reshaped),
}
