"""Specifies gpt-train: one AdamW step of a causal language model, a GPT-2 in its layers, on seeded random tokens.

It is transformer-train with the optimizer and the sizes of published training scripts. As in nanoGPT, queries, keys and
values can do without a bias, and GELU is the exact one. All parameters decay.
"""

from __future__ import annotations

from ..transformer_train import batch, compulsory_bytes, items, loss, parameters, useful_flops

__all__ = ["batch", "compulsory_bytes", "items", "loss", "parameters", "useful_flops"]

ITEM = "token"
SIZES = {
    "check": {"batch": 2, "sequence": 8, "width": 16, "heads": 2, "layers": 2, "vocabulary": 32},
    "tiny": {"batch": 4, "sequence": 32, "width": 64, "heads": 4, "layers": 4, "vocabulary": 256},
    "small": {"batch": 8, "sequence": 128, "width": 256, "heads": 8, "layers": 4, "vocabulary": 2048},
    "medium": {"batch": 8, "sequence": 256, "width": 512, "heads": 8, "layers": 8, "vocabulary": 8192},
    # The smallest GPT-2 (Radford et al. 2019), 124 million parameters.
    "large": {"batch": 2, "sequence": 512, "width": 768, "heads": 12, "layers": 12, "vocabulary": 50257},
}
PRECISIONS = ("float32", "mixed-bfloat16")
TRAINING = True
#: nanoGPT's; it lets only matrices decay.
OPTIMIZER = {
    "name": "adamw", "learning_rate": 6e-4, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weight_decay": 0.1,
}  # fmt: skip
