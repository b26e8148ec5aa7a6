"""Tests that the public kernels which ours are timed beside compute the same, and that a wrong one is found."""

from __future__ import annotations

from environment import run
from modes import cases

KERNELS = (
    "batched-gemm", "conv2d", "conv2d-depthwise", "embedding-bag", "scatter-add", "random-normal", "random-uniform",
    "optimizer-step-sgd", "optimizer-step-adam", "optimizer-step-adamw", "per-sample-gradients", "hessian-vector",
)  # fmt: skip
NETWORKS = ("mlp-train", "transformer-encoder")


@cases("torch1:eager", "torch2:eager", "tf2:function", "jax:jit")
def test_public_kernels_agree_with_float64_and_a_wrong_one_is_not_timed(environment, mode):
    found = run(environment, "public_kernels", mode, *KERNELS, *NETWORKS)
    timed, differing = found.pop("planted")
    assert "planted" not in timed
    assert list(differing) == ["planted"]
    assert differing["planted"].startswith("sums[0] has a relative error of 0.001 against float64; ")
    for timed, differing in found.values():
        assert len(timed) > 1
        assert differing == {}
