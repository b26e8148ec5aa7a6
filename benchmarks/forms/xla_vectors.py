"""Forms of XLA on a processor: the widest vectors that LLVM chooses by itself."""

from __future__ import annotations

FORMS = {
    "256": {"XLA_FLAGS": "--xla_cpu_prefer_vector_width=256"},
    "512": {"XLA_FLAGS": "--xla_cpu_prefer_vector_width=512"},
}
