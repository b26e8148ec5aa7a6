"""Forms of decoding with a cache in PyTorch: attention to all of the cache under a mask, or to what is written."""

from __future__ import annotations

MODES = "bench.workloads.kv_decode.torch:OP_BY_OP"
FORMS = {
    "masked": {MODES: ()},
    "written": {MODES: ("eager", "torchscript", "torchscript-optimized")},
}
