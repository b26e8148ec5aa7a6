"""Keeps the outputs of CUDA graphs, which the next replay overwrites."""

from __future__ import annotations

#: Modes in which Inductor records CUDA graphs.
MODES = ("compile-max-autotune", "compile-reduce-overhead")


def kept(function, mode):
    """Return ``function``, which gives one tensor, for a step that calls it several times and needs every output."""
    if mode not in MODES:
        return function

    def call(*batch):
        output = function(*batch)
        return output.clone() if output.is_cuda else output

    return call
