"""Runs inside a PyTorch 2 environment, through server.py: plants a lower precision.

Runs steps whose matrix products and convolutions get factors of fewer bits, as TF32 and bfloat16 hardware rounds them
while it sums in float32, and returns by how much each exceeds what the check allows for float32, or for TF32.
"""

from __future__ import annotations

import os
import tempfile

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

from bench.frameworks.torch.adapter import Adapter
from bench.program import Transform
from bench.registry import BUILT_IN
from bench.worker.checking import parity, tolerance

#: Bits of the mantissa that are kept; a float32 has 23.
BITS = {"float32": 23, "tf32": 10, "tf32 cut": 10, "bfloat16": 7}
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward")


def rounded(value, bits, cut=False):
    """Round a float32 tensor to the nearest number with so many bits of mantissa, ties away from zero, or cut it."""
    if bits == 23 or not torch.is_tensor(value) or value.dtype != torch.float32:
        return value
    dropped = 23 - bits
    kept = (value.contiguous().view(torch.int32) + (0 if cut else 1 << (dropped - 1))) & -(1 << dropped)
    return kept.view(torch.float32).view(value.shape)


class Plant(TorchDispatchMode):
    """Rounds the factors of all products, those of the backward pass too."""

    def __init__(self, bits, cut=False):
        super().__init__()
        self._bits = bits
        self._cut = cut
        self.products = 0

    def __torch_dispatch__(self, operation, types, arguments=(), keywords=None):
        # Inference mode hands over composed operations, such as linear, as they are.
        with self:
            composed = operation.decompose(*arguments, **(keywords or {}))
        if composed is not NotImplemented:
            return composed
        name = operation.overloadpacket.__name__
        if name in PRODUCTS:
            self.products += 1
            # What is added to a product is not multiplied; the bias of a convolution neither.
            factors = {"addmm": (1, 2), "baddbmm": (1, 2), "convolution_backward": (0, 1, 2)}.get(name, (0, 1))
            arguments = [
                rounded(value, self._bits, self._cut) if index in factors else value
                for index, value in enumerate(arguments)
            ]
        return operation(*arguments, **(keywords or {}))


def exceeded(workload, size_name, asked, folder):
    """Return status, largest error over what is allowed for the ``asked`` precision, and number of products, for each
    planted precision.
    """
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES[size_name]
    path = os.path.join(folder, f"{workload}-{size_name}.npz")
    parity.write_reference(path, specification, size, 1)
    drawn, batches, _ = parity.draw(specification, size, 1)
    identity = parity.digest(drawn, batches)
    factor = getattr(specification, "TOLERANCE_FACTOR", tolerance.TOLERANCE_FACTOR)
    found = {}
    for precision, bits in BITS.items():
        adapter = Adapter("eager", "cpu", "float32", 2)
        parameters = {name: adapter.put(array) for name, array in drawn.items()}
        placed = [tuple(adapter.put(array) for array in batch) for batch in batches]
        build = BUILT_IN.implementation(workload, "torch")
        program = build(size, parameters, placed[0], Transform("eager", adapter.transform))
        with Plant(bits, precision == "tf32 cut") as plant, sdpa_kernel(SDPBackend.MATH):
            initial = dict(drawn, **parity.initial_state(specification, size)) if specification.TRAINING else {}
            outputs = parity.program_outputs(program, placed, adapter.get, initial)
        found[precision] = {
            "status": status(outputs, path, identity, asked, factor),
            "exceeds": largest_excess(outputs, path, asked, factor),
            "products": plant.products,
        }
    return found


def status(outputs, path, identity, asked, factor):
    """Return what a cell would end with."""
    try:
        parity.compare(outputs, path, identity, asked, factor)
    except parity.Mismatch:
        return "mismatch"
    return "ok"


def largest_excess(outputs, path, asked, factor):
    """Return the largest error of an output over what is allowed."""
    with np.load(path, allow_pickle=False) as stored:
        return max(
            parity.relative_error(value, stored["expected/" + name])
            / tolerance.allowed_error(stored, name, asked, factor)
            for name, value in outputs.items()
        )


def main(framework, size_name, asked, *workloads):
    with tempfile.TemporaryDirectory() as folder:
        return {name: exceeded(name, size_name, asked, folder) for name in workloads}
