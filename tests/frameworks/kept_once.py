"""Precompiles what torch.compile's modes share, then does what the parent of workers does; returns what it found."""

from __future__ import annotations

from bench.frameworks.torch import once
from bench.frameworks.torch.adapter import Adapter


def main(framework):
    # In a mode that by itself compiles no function without an optimizer.
    Adapter("compile-optimizer", "cpu", "float32", 1).warm()
    from torch._inductor import codecache, cpu_vec_isa

    kept = {"header": codecache._precompile_header, "vector_instructions": cpu_vec_isa.valid_vec_isa_list}
    before = {name: function.cache_info() for name, function in kept.items()}
    once.vector_instructions()
    once.header()
    after = {name: function.cache_info() for name, function in kept.items()}
    return {
        name: [after[name].hits > before[name].hits, after[name].misses - before[name].misses] for name in sorted(kept)
    }
