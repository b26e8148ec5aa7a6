"""Tells torch.compile that the shapes of a cell are fixed."""

from __future__ import annotations


def fixed_shapes():
    """Let torch.compile take all shapes for fixed, and return the options that it needs for that.

    ``dynamic=False`` sets this in every call, and takes it back, which took 3 of 10 µs of a small kernel and 8 of 60 of
    an optimizer's step. A process has one cell, so it is set once where a version has the setting (since 2.1).
    """
    from torch._dynamo import config

    if not hasattr(config, "automatic_dynamic_shapes"):
        return {"dynamic": False}
    config.automatic_dynamic_shapes = False
    return {}
