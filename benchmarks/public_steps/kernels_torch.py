"""Makes runs of PyTorch's functions and recipes: torch.nn's layers, torch.optim, torch.func's tutorials."""

from __future__ import annotations

import functools

import lazy_torch
import torch
from derivatives_torch import PUBLIC_ORDER, hessian_vector, per_sample_gradients
from optimizers_torch import OPTIMIZERS, optimizers
from torch import nn
from transforms_torch import FORMATS, SCRIPTED, inferring


def runs(workload, size, mode, batch, parameters):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch; empty where there are none."""
    if workload not in {**FUNCTIONS, **OPTIMIZERS}:
        return {}
    if workload in OPTIMIZERS:
        return optimizers(OPTIMIZERS[workload], mode, batch, parameters)
    own = FUNCTIONS[workload](size, parameters, mode)
    if mode in FORMATS:
        formats = {"nn.Conv2d": "plain", "nn.Conv2d, channels_last": "channels_last"}
        own = {name: function for name, function in own.items() if formats.get(name, "plain") in FORMATS[mode]}
    inputs = {name: INPUTS[name](*batch) for name in own if name in INPUTS}
    differentiates = workload in ("per-sample-gradients", "hessian-vector")
    if differentiates and mode in (*SCRIPTED, "aot-inductor"):
        return {}
    return {
        name: looped(inferring(function, mode, inputs.get(name, batch)), differentiates, inputs.get(name), mode)
        for name, function in own.items()
    }


def looped(function, differentiates, inputs=None, mode="eager"):
    """Call a function for each batch, as a loop of a user does.

    If given, ``inputs`` replace the batch: its images in another layout.
    """

    def run(batches):
        for batch in batches if inputs is None else [inputs] * len(batches):
            outputs = function(*batch)
        return {"outputs": outputs}

    return run if differentiates else lazy_torch.forward_only(mode)()(run)


def embedding_bag(size, parameters, mode):
    bags = nn.EmbeddingBag.from_pretrained(parameters["table"], mode="sum")
    rows = nn.Embedding.from_pretrained(parameters["table"])
    return {"nn.EmbeddingBag": bags, "nn.Embedding": lambda indices: rows(indices).sum(dim=1)}


def scatter_add(size, parameters, mode):
    """Scatter as PyTorch Geometric does, and with index_add_."""
    where = lazy_torch.options(mode)

    def scattered(rows, groups):
        zeros = rows.new_zeros(size["groups"], size["width"])
        return zeros.scatter_add_(0, groups.view(-1, 1).expand_as(rows), rows)

    def added(rows, groups):
        return torch.zeros(size["groups"], size["width"], **where).index_add_(0, groups, rows)

    return {"scatter_add_": scattered, "index_add_": added}


def batched_gemm(size, parameters, mode):
    return {
        "matmul": torch.matmul,
        "einsum": lambda left, right: torch.einsum("bij,bjk->bik", left, right),
    }


def conv2d(size, parameters, mode, depthwise=False):
    """Convolve images that lie in PyTorch's default layout, and in channels_last: see ``INPUTS``."""
    filters = size["channels"]
    layers = {
        name: nn.Conv2d(filters, filters, 3, padding=1, bias=False, groups=filters if depthwise else 1)
        for name in INPUTS
    }
    weight = parameters["weight"].unsqueeze(2) if depthwise else parameters["weight"]
    with torch.no_grad():
        for layer in layers.values():
            # A trace holds no constants that need gradients.
            layer.requires_grad_(mode not in SCRIPTED)
            layer.weight.copy_(weight.permute(3, 2, 0, 1))
    plain = lazy_torch.placed(layers["nn.Conv2d"], mode)
    if mode in lazy_torch.LAZY:
        # There a layout is no property of a tensor: what is permuted outside of a step is copied there.
        return {"nn.Conv2d, permuted": lambda images: plain(images.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)}
    moved = layers["nn.Conv2d, channels_last"].to(memory_format=torch.channels_last)
    return {"nn.Conv2d": lambda images: plain(images), "nn.Conv2d, channels_last": lambda images: moved(images)}


def normal(size, parameters, mode):
    where = lazy_torch.options(mode)
    return {
        "torch.randn": lambda seed: torch.randn(size["draws"], **where),
        "normal_": lambda seed: torch.empty(size["draws"], **where).normal_(),
    }


def uniform(size, parameters, mode):
    where = lazy_torch.options(mode)
    return {
        "torch.rand": lambda seed: torch.rand(size["draws"], **where),
        "uniform_": lambda seed: torch.empty(size["draws"], **where).uniform_(),
    }


FUNCTIONS = {
    "embedding-bag": embedding_bag, "scatter-add": scatter_add, "batched-gemm": batched_gemm, "conv2d": conv2d,
    "conv2d-depthwise": functools.partial(conv2d, depthwise=True), "random-normal": normal,
    "random-uniform": uniform, "per-sample-gradients": per_sample_gradients, "hessian-vector": hessian_vector,
}  # fmt: skip
#: What gives a kernel the images of a batch in its layout, before it is timed.
INPUTS = {
    "nn.Conv2d": lambda images: (images.permute(0, 3, 1, 2).contiguous(),),
    "nn.Conv2d, channels_last": lambda images: (images.permute(0, 3, 1, 2),),
}
#: What puts the outputs of a kernel into the layout of the specification: images, and weights with the inputs first.
OUTPUTS = {
    **dict.fromkeys(INPUTS, lambda images: images.permute(0, 2, 3, 1)),
    **dict.fromkeys(PUBLIC_ORDER, lambda found: [value.mT if value.dim() == 3 else value for value in found]),
}
