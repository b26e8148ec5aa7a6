"""Plants wrong gradients, of one parameter after the other, and wrong losses."""

from __future__ import annotations

import numpy as np
from planted_mistake import Mistake

from bench.workloads import layers

FACTOR = "a factor cancels in the steps of Adam"
GIVEN = "the batch has the loss and the gradients"


def one_sign(gradient):
    """Turn the sign of an element in the middle of those that are not zero, by size."""
    turned, used = gradient.copy(), np.flatnonzero(gradient)
    turned.flat[used[np.argsort(np.abs(gradient.flat[used]))[len(used) // 2]]] *= -1
    return turned


def turned(gradient):
    """Read the memory as if the last axis were the first."""
    return np.moveaxis(gradient.reshape(gradient.shape[-1:] + gradient.shape[:-1]), 0, -1)


def changed(names, change):
    """Change one gradient, of each of the parameters in turn."""

    def of(name):
        return Mistake(gradients=lambda kept, right: {**right, name: change(right[name]).astype(np.float32)})

    return {name: of(name) for name in names}


def exchanged(drawn):
    """Give two parameters of the same shape each other's gradients."""
    found, names = {}, list(drawn)

    def of(one, other):
        return Mistake(gradients=lambda kept, right: {**right, one: right[other], other: right[one]})

    for index, one in enumerate(names):
        same = [other for other in names[index + 1 :] if drawn[other].shape == drawn[one].shape]
        if same:
            found[f"{one} and {same[0]}"] = of(one, same[0])
    return found


def added(kept, gradients):
    """Add gradients to those of all steps before, as PyTorch does without ``zero_grad``."""
    kept.update({name: kept.get(name, 0) + gradient for name, gradient in gradients.items()})
    return dict(kept)


def late(kept, gradients):
    before = kept.get("before", gradients)
    kept["before"] = gradients
    return before


def loss(change):
    """Compute the loss by a function of the right one, the logits and the labels."""
    right = layers.cross_entropy
    return Mistake(replaced=((layers, "cross_entropy", lambda *given: change(right, *given)),))


def summed(right, logits, labels):
    return right(logits, labels) * logits.dtype.type(labels.size)


def of_others(right, logits, labels):
    return right(logits, np.roll(labels, 1))


def multiplied(kept, gradients):
    return {name: 8 * gradient for name, gradient in gradients.items()}


def rows(case):
    names, given = list(case.drawn), GIVEN if case.network == "given gradients" else ""
    cancels = FACTOR if case.adaptive else ""
    yield "gradient with the other sign", changed(names, np.negative)
    yield "gradient missing", changed(names, np.zeros_like)
    yield "gradient 1 % too large", cancels or changed(names, lambda right: right * np.float32(1.01))
    # The gradients of two classes are opposite numbers, so that the neighbour's share is a factor.
    neighbours = [name for name in names if not (case.adaptive and case.drawn[name].shape == (2,))]
    yield (
        "gradient with 2 % of its neighbour's",
        changed(neighbours, lambda right: right + np.float32(0.02) * np.roll(right, 1)),
    )
    yield "gradient with one wrong sign", changed(names, one_sign)
    matrices = [name for name in names if case.drawn[name].ndim > 1]
    yield "gradient in another layout", changed(matrices, turned)
    pairs = exchanged(case.drawn)
    yield "gradients exchanged", pairs or "no two parameters have the same shape"
    yield "gradients added to those before", Mistake(gradients=added)
    yield "gradients of the step before", Mistake(gradients=late)
    yield "gradients of a sum, with the mean as loss", cancels or Mistake(gradients=multiplied)
    yield "loss that is a sum", given or loss(summed)
    yield "labels of other examples", given or loss(of_others)
