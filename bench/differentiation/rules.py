"""Holds the derivatives of NumPy's functions: what each gives back to its operands for the gradient of its result."""

from __future__ import annotations

import numpy as np

from .tape import CONSTANT, FUNCTIONS, UFUNCS, Part, primitive


def summed_to(gradient, shape):
    """Sum a gradient over the axes along which an operand of ``shape`` was broadcast."""
    if gradient.shape == shape:
        return gradient
    extra = gradient.ndim - len(shape)
    stretched = [extra + axis for axis, length in enumerate(shape) if length == 1 != gradient.shape[extra + axis]]
    return gradient.sum(axis=(*range(extra), *stretched), keepdims=True).reshape(shape)


def summing(pull, shape):
    # NumPy 1 computes float64 where all operands have no axes.
    return lambda gradient: summed_to(np.asarray(pull(gradient), gradient.dtype), shape)


def elementwise(ufunc):
    """Register the rule of an elementwise function; gradients are summed to the shapes of its operands."""

    def register(rule):
        def pulls(result, *operands):
            return [summing(pull, np.shape(operand)) for operand, pull in zip(operands, rule(result, *operands))]

        UFUNCS[ufunc] = pulls
        return rule

    return register


def function(*functions):
    """Register the rule of functions that are not elementwise."""

    def register(rule):
        FUNCTIONS.update(dict.fromkeys(functions, rule))
        return rule

    return register


def same(gradient):
    return gradient


elementwise(np.add)(lambda result, left, right: (same, same))
elementwise(np.subtract)(lambda result, left, right: (same, np.negative))
elementwise(np.multiply)(lambda result, left, right: (lambda g: g * right, lambda g: g * left))
elementwise(np.true_divide)(lambda result, left, right: (lambda g: g / right, lambda g: -g * result / right))
elementwise(np.negative)(lambda result, operand: (np.negative,))
elementwise(np.positive)(lambda result, operand: (same,))
elementwise(np.exp)(lambda result, operand: (lambda g: g * result,))
elementwise(np.expm1)(lambda result, operand: (lambda g: g * np.exp(operand),))
elementwise(np.log)(lambda result, operand: (lambda g: g / operand,))
elementwise(np.log1p)(lambda result, operand: (lambda g: g / (1 + operand),))
elementwise(np.tanh)(lambda result, operand: (lambda g: g * (1 - result * result),))
elementwise(np.sqrt)(lambda result, operand: (lambda g: g / (2 * result),))
elementwise(np.square)(lambda result, operand: (lambda g: g * (2 * operand),))
elementwise(np.reciprocal)(lambda result, operand: (lambda g: -g * result * result,))
elementwise(np.absolute)(lambda result, operand: (lambda g: g * np.sign(operand),))
elementwise(np.sin)(lambda result, operand: (lambda g: g * np.cos(operand),))
elementwise(np.cos)(lambda result, operand: (lambda g: -g * np.sin(operand),))


def chosen(strictly, or_equal, left, right):
    """Give the gradient to the larger or smaller operand; of equal ones to a number beside an array, or the right."""
    # So numpy.maximum(x, 0) and numpy.maximum(0, x) have the slope 0 at 0, as ReLU has.
    first, second = (or_equal, strictly) if np.ndim(left) == 0 < np.ndim(right) else (strictly, or_equal)
    return lambda g: g * first(left, right), lambda g: g * second(right, left)


elementwise(np.maximum)(lambda result, *operands: chosen(np.greater, np.greater_equal, *operands))
elementwise(np.minimum)(lambda result, *operands: chosen(np.less, np.less_equal, *operands))


@elementwise(np.power)
def power(result, base, exponent):
    one = np.asarray(exponent).dtype.type(1)
    return lambda g: g * exponent * base ** (exponent - one), lambda g: g * result * np.log(base)


def matmul(result, left, right):
    """Give the rule of a product of matrices, of stacks of them, or of vectors: a row on the left, a column behind."""
    rows = left if left.ndim > 1 else left[np.newaxis, :]
    columns = right if right.ndim > 1 else right[:, np.newaxis]

    def whole(gradient):
        # With the axis of each vector, which the product has not.
        gradient = gradient if right.ndim > 1 else gradient[..., np.newaxis]
        return gradient if left.ndim > 1 else gradient[..., np.newaxis, :]

    def pull_left(gradient):
        return summed_to(whole(gradient) @ columns.swapaxes(-1, -2), rows.shape).reshape(left.shape)

    def pull_right(gradient):
        gradient = whole(gradient)
        if columns.ndim == 2:
            # One product over all rows is faster than one of each stack and their sum.
            summed = rows.reshape(-1, rows.shape[-1]).T @ gradient.reshape(-1, gradient.shape[-1])
        else:
            summed = summed_to(rows.swapaxes(-1, -2) @ gradient, columns.shape)
        return summed.reshape(right.shape)

    return pull_left, pull_right


UFUNCS[np.matmul] = matmul


def spread(gradient, shape, axis, keepdims):
    """Return a gradient of a reduction as a view of its operand's shape."""
    if axis is not None and not keepdims:
        axes = [a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))]
        gradient = gradient.reshape([1 if a in axes else length for a, length in enumerate(shape)])
    return np.broadcast_to(gradient, shape)


@function(np.sum)
def sum_of(array, axis=None, keepdims=False):
    result = np.asarray(array.sum(axis=axis, keepdims=keepdims))
    return result, (lambda gradient: spread(gradient, array.shape, axis, keepdims),)


@function(np.mean)
def mean_of(array, axis=None, keepdims=False):
    result = np.asarray(array.mean(axis=axis, keepdims=keepdims))
    count = array.dtype.type(array.size // result.size)
    return result, (lambda gradient: spread(gradient / count, array.shape, axis, keepdims),)


@function(np.max, np.amax)
def max_of(array, axis=None, keepdims=False):
    """Take the maximum along one axis or of all; of equal values the first gets the gradient."""
    if isinstance(axis, tuple):
        raise TypeError("numpy.max over axes {}: only one axis, or all, has a rule".format(axis))
    result = np.asarray(array.max(axis=axis, keepdims=keepdims))

    def pull(gradient):
        found = np.zeros(array.shape, array.dtype)
        if axis is None:
            found.flat[array.argmax()] = gradient.item()
            return found
        chosen = np.expand_dims(array.argmax(axis=axis), axis)
        np.put_along_axis(found, chosen, gradient.reshape(chosen.shape), axis=axis)
        return found

    return result, (pull,)


@function(np.reshape)
def reshape(array, shape):
    return array.reshape(shape), (lambda gradient: gradient.reshape(array.shape),)


@function(np.transpose)
def transpose(array, axes=None):
    inverse = None if axes is None else np.argsort([axis % array.ndim for axis in axes])
    return array.transpose(axes), (lambda gradient: gradient.transpose(inverse),)


@function(np.swapaxes)
def swapaxes(array, first, second):
    return array.swapaxes(first, second), (lambda gradient: gradient.swapaxes(first, second),)


@function(np.broadcast_to)
def broadcast_to(array, shape):
    return np.broadcast_to(array, shape), (lambda gradient: summed_to(gradient, array.shape),)


@function(np.where)
def where(condition, left, right):
    result = np.where(condition, left, right)
    return result, (
        None,
        lambda gradient: summed_to(np.where(condition, gradient, gradient.dtype.type(0)), np.shape(left)),
        lambda gradient: summed_to(np.where(condition, gradient.dtype.type(0), gradient), np.shape(right)),
    )


@function(np.stack)
def stack(arrays, axis=0):
    result = np.stack(arrays, axis=axis)
    return result, [lambda gradient, index=index: np.moveaxis(gradient, axis, 0)[index] for index in range(len(arrays))]


@function(np.concatenate)
def concatenate(arrays, axis=0):
    ends = np.cumsum([array.shape[axis] for array in arrays])
    result = np.concatenate(arrays, axis=axis)
    return result, [
        lambda gradient, start=end - array.shape[axis], end=end: np.moveaxis(
            np.moveaxis(gradient, axis, 0)[start:end], 0, axis
        )
        for array, end in zip(arrays, ends)
    ]


@function(np.take)
def take(array, indices, axis):
    """Take along an axis; where an index occurs several times, its gradients are added."""
    return np.take(array, indices, axis=axis), (
        lambda gradient: Part((slice(None),) * (axis % array.ndim) + (np.asarray(indices),), gradient),
    )


@function(np.pad)
def pad(array, widths, mode="constant"):
    if mode != "constant":
        raise TypeError("numpy.pad with mode {!r}: only 'constant' has a rule".format(mode))
    pairs = np.broadcast_to(widths, (array.ndim, 2)).tolist()
    inner = tuple(slice(before, before + length) for (before, _), length in zip(pairs, array.shape))
    return np.pad(array, pairs, mode="constant"), (lambda gradient: gradient[inner],)


def window_rule(array, window_shape, axis):
    """View all windows along two axes; a gradient is added where windows overlap, one offset after the other."""
    rows, columns = (a % array.ndim for a in axis)
    shape = list(array.shape)
    for a, length in zip((rows, columns), window_shape):
        shape[a] -= length - 1
    strides = (*array.strides, array.strides[rows], array.strides[columns])
    result = np.lib.stride_tricks.as_strided(array, (*shape, *window_shape), strides, writeable=False)

    def pull(gradient):
        found = np.zeros(array.shape, array.dtype)
        for offset in np.ndindex(*window_shape):
            index = [slice(None)] * array.ndim
            for a, start in zip((rows, columns), offset):
                index[a] = slice(start, start + gradient.shape[a])
            found[tuple(index)] += gradient[(Ellipsis, *offset)]
        return found

    return result, (pull,)


#: What NumPy has since version 1.20; a specification may use either.
sliding_window_view = primitive(window_rule)
if hasattr(np.lib.stride_tricks, "sliding_window_view"):
    function(np.lib.stride_tricks.sliding_window_view)(window_rule)


CONSTANT.update((np.argmax, np.argmin, np.shape, np.ndim, np.size, np.zeros_like, np.ones_like))
CONSTANT.update((np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal, np.isfinite, np.sign))
