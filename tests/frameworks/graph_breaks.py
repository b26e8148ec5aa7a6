"""Runs inside a PyTorch 2 environment, through server.py: compiles a function that Dynamo must cut in two.

It returns the result, and what the adapter reports of compilations before and after.
"""

from __future__ import annotations

import torch

from bench.frameworks.torch.adapter import Adapter


def main(framework):
    adapter = Adapter("compile", "cpu", "float32", 2)
    before = adapter.compilation()

    def cut(values):
        doubled = values * 2
        torch._dynamo.graph_break()
        return doubled + 1

    result = adapter.transform(cut)(torch.ones(3))
    return {"before": before, "after": adapter.compilation(), "result": result.tolist()}
