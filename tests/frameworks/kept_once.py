"""Does what the parent of workers does once for PyTorch's compiler; returns whether the compiler finds it."""

from __future__ import annotations

from bench.frameworks.torch import once
from bench.frameworks.torch.adapter import Adapter


def main(framework):
    # In a mode that by itself compiles no function without an optimizer.
    Adapter("compile-optimizer", "cpu", "float32", 1).warm()
    from torch._inductor import codecache, cpu_vec_isa
    from torch._inductor.fx_passes import freezing_patterns, joint_graph, post_grad

    compiled = {"header": codecache._precompile_header, "vector_instructions": cpu_vec_isa.valid_vec_isa_list}
    found = found_again(compiled, lambda: (once.vector_instructions(), once.header()))
    once.patterns()
    patterns = {"patterns": joint_graph, "late patterns": post_grad, "frozen patterns": freezing_patterns}
    return {**found, **found_again({name: module.lazy_init for name, module in patterns.items()}, compile_frozen)}


def compile_frozen():
    """Compile a layer whose weights become constants, whatever the disk has of it."""
    import torch
    from torch._inductor import config

    with torch.no_grad(), config.patch(freezing=True, force_disable_caches=True):
        torch.compile(torch.nn.Linear(2, 3))(torch.ones(4, 2))


def found_again(kept, work):
    """Return for each function whether ``work`` found results that it keeps, and how many it computed."""
    before = {name: function.cache_info() for name, function in kept.items()}
    work()
    after = {name: function.cache_info() for name, function in kept.items()}
    return {name: [after[name].hits > before[name].hits, after[name].misses - before[name].misses] for name in kept}
