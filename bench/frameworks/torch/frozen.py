"""Freezes weights for torch.compile: they become constants, which its templates for products on a processor require."""

from __future__ import annotations

import hashlib

import torch


def freeze(function):
    """Let torch.compile freeze the weights of ``function``, a module or a method of one; return whether it can.

    Dynamo reads this setting of the whole process, which has one cell. PyTorch 2.0 has no such setting, and refuses to
    be given one.
    """
    from torch._inductor import config

    if not hasattr(config, "freezing"):
        return False
    config.freezing = True
    # Inductor writes values that it computes from frozen weights into its code, and in 2.15 the key of its cache has
    # their shapes alone: code for the weights of another seed was found. Versions without the tag were not tried.
    named = getattr(getattr(torch, "compiler", None), "config", None)
    if hasattr(named, "cache_key_tag"):
        named.cache_key_tag = digest(getattr(function, "__self__", function))
    return True


def digest(module):
    """Return a hash of all weights and buffers of a module; empty for what is no module."""
    if not isinstance(module, torch.nn.Module):
        return ""
    hashed = hashlib.sha256()
    for value in (*module.parameters(), *module.buffers()):
        hashed.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return hashed.hexdigest()
