"""Forms of the residual network in Flax: variances by the mean of the squares."""

from __future__ import annotations

from bench.workloads.resnet18 import flax as present

NORM = "bench.workloads.resnet18.flax:NORM"

FORMS = {"fast variance": {NORM: {**present.NORM, "use_fast_variance": True}}}
