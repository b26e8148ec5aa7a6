"""Compiles a function with torch.compile, then does what the parent of workers does; returns what was found again."""

from __future__ import annotations

import numpy as np
import torch

from bench.frameworks.torch import once
from bench.frameworks.torch.adapter import Adapter


def main(framework):
    once.use_common_folder()
    adapter = Adapter("compile", "cpu", "float32", 1)
    compiled = adapter.transform(lambda value: value * 3 + 2)
    with torch.no_grad():
        compiled(adapter.put(np.ones((32, 32))))
    from torch._inductor import codecache, cpu_vec_isa

    kept = {"header": codecache._precompile_header, "vector_instructions": cpu_vec_isa.valid_vec_isa_list}
    before = {name: function.cache_info() for name, function in kept.items()}
    once.vector_instructions()
    once.header()
    after = {name: function.cache_info() for name, function in kept.items()}
    return {
        name: [after[name].hits > before[name].hits, after[name].misses - before[name].misses] for name in sorted(kept)
    }
