"""Forms of long attention in PyTorch 2: its own kernel, and blocks of queries."""

from __future__ import annotations

CHOICE = "bench.workloads.attention_full.torch:fused_is_slow"
FORMS = {"fused": {CHOICE: lambda like: False}, "blocks": {CHOICE: lambda like: True}}
