"""Forms of attention in PyTorch 2: its own kernel, which is the present form but for bfloat16 on some processors; blocks."""

from __future__ import annotations

CHOICE = "bench.workloads.attention_full.torch:converts_bfloat16"
FORMS = {"fused": {CHOICE: lambda like: False}, "blocks": {CHOICE: lambda like: True}}
