"""Forms of long attention in PyTorch 2: its own kernel, and blocks of queries."""

from __future__ import annotations

CHOICE = "bench.workloads.attention_full.torch:converts_bfloat16"
FORMS = {"fused": {CHOICE: lambda like: False}, "blocks": {CHOICE: lambda like: True}}
