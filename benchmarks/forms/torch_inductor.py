"""Forms of torch.compile: options of its compiler that are off unless a user sets them."""

from __future__ import annotations

FORMS = {
    # For inference: weights are constants, so that a convolution takes in the normalisation behind it.
    "frozen": {"TORCHINDUCTOR_FREEZING": "1"},
    # One instruction multiplies and adds, with one rounding.
    "multiply-add": {"TORCHINDUCTOR_CPP_ENABLE_FLOATING_POINT_CONTRACT_FLAG": "fast"},
}
