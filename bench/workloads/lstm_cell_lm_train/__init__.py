"""Specifies lstm-cell-lm-train: the training step of lstm-lm-train, with a cell that is called for each time step."""

from __future__ import annotations

from ..lstm_lm_train import (
    ITEM,
    OPTIMIZER,
    PRECISIONS,
    SIZES,
    TRAINING,
    batch,
    compulsory_bytes,
    items,
    loss,
    parameters,
    useful_flops,
)

__all__ = [
    "ITEM", "OPTIMIZER", "PRECISIONS", "SIZES", "TRAINING", "batch", "compulsory_bytes", "items", "loss", "parameters",
    "useful_flops",
]  # fmt: skip
