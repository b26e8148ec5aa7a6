"""Forms of equation-of-state in PyTorch: polynomials and derivatives of products that are computed in place."""

from __future__ import annotations

import torch

from bench.workloads import equation_of_state as present

expressions, slope = present.polynomial, present.slope_of_product


def polynomial(variable, *coefficients):
    """Do Horner's rule in the memory of the value and of the slope; the reference keeps expressions."""
    if not torch.is_tensor(variable):
        return expressions(variable, *coefficients)
    rest, last = list(coefficients[:-1]), coefficients[-1]
    value, derivative = (variable * last).add_(rest.pop()), last
    if rest:
        derivative = (variable * last).add_(value)
        value.mul_(variable).add_(rest.pop())
    while rest:
        derivative.mul_(variable).add_(value)
        value.mul_(variable).add_(rest.pop())
    return value, derivative


def slope_of_product(left, right):
    """Add the second product to the first in its memory where all factors are grids."""
    factors = (*left, *right)
    if not all(torch.is_tensor(factor) and factor.shape == factors[0].shape for factor in factors):
        return slope(left, right)
    return (left[1] * right[0]).addcmul_(left[0], right[1])


FORMULA = "bench.workloads.equation_of_state:"
FORMS = {"in place": {FORMULA + "polynomial": polynomial, FORMULA + "slope_of_product": slope_of_product}}
