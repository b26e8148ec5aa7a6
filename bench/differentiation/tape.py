"""Records what a function computes from variables, and walks back through the record to their gradients."""

from __future__ import annotations

import numbers

import numpy as np

#: {function of NumPy or primitive: rule}. A rule of a ufunc receives (result, *operands); any other rule receives the
#: function's own arguments and returns the result, too. Both give one function per operand, which turns the gradient
#: of the result into that of the operand: an array, or a ``Part``. ``None`` stands for an operand without a gradient.
UFUNCS = {}
FUNCTIONS = {}
#: Functions whose results do not depend on their argument smoothly: they are computed of the values.
CONSTANT = set()


class Part:
    """A gradient that is zero except at ``index``; where ``index`` names a place twice, both values count."""

    def __init__(self, index, values):
        self.index = index
        self.values = values

    def add_to(self, gradient):
        if is_basic(self.index):
            gradient[self.index] += self.values
        else:
            np.add.at(gradient, self.index, self.values)


def is_basic(index):
    """Return whether an index selects each place at most once, as integers and slices do."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is Ellipsis or isinstance(part, (numbers.Integral, slice)) for part in parts)


class Variable(np.lib.mixins.NDArrayOperatorsMixin):
    """An array whose use is recorded. It behaves like the array, but it cannot be changed in place."""

    __slots__ = ("_gradient", "_operands", "_owns", "_tape", "value")

    def __init__(self, tape, value, operands=()):
        self.value = value
        self._tape = tape
        #: Pairs of a variable and the function that turns the gradient of this one into that of the other.
        self._operands = operands
        self._gradient = None
        #: Whether the gradient is an array of its own; others may be views, or gradients of two variables.
        self._owns = False

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    T = property(lambda self: np.transpose(self))

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __bool__(self):
        return bool(self.value)

    def __getitem__(self, index):
        return self._tape.apply("indexing", _getitem, (self, plain(index)), {})

    def reshape(self, *shape):
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes):
        return np.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)

    def swapaxes(self, first, second):
        return np.swapaxes(self, first, second)

    def sum(self, axis=None, keepdims=False):
        return np.sum(self, axis=axis, keepdims=keepdims)

    def mean(self, axis=None, keepdims=False):
        return np.mean(self, axis=axis, keepdims=keepdims)

    def max(self, axis=None, keepdims=False):
        return np.max(self, axis=axis, keepdims=keepdims)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("a differentiated array was converted to a plain one; use functions of NumPy that have a rule")

    def __array_ufunc__(self, ufunc, method, *operands, **options):
        if method != "__call__" or options:
            raise TypeError("numpy.{}.{} with {}: {}".format(ufunc.__name__, method, sorted(options), NO_RULE))
        return self._tape.apply_ufunc(ufunc, operands)

    def __array_function__(self, function, types, arguments, options):
        if function in CONSTANT:
            return function(*plain(arguments), **options)
        if function not in FUNCTIONS:
            raise TypeError("numpy.{}: {}".format(function.__name__, NO_RULE))
        return self._tape.apply(function.__name__, FUNCTIONS[function], arguments, options)

    def receive(self, gradient):
        """Add to the gradient of this variable."""
        if isinstance(gradient, Part):
            if not self._owns:
                fresh = self._gradient is None
                self._gradient = np.zeros(self.shape, self.dtype) if fresh else self._gradient.copy()
                self._owns = True
            gradient.add_to(self._gradient)
        elif gradient.shape != self.shape or gradient.dtype != self.dtype:
            raise TypeError("a gradient is {} of {}, its variable {} of {}: a rule is wrong".format(
                gradient.shape, gradient.dtype, self.shape, self.dtype
            ))  # fmt: skip
        elif self._gradient is None:
            self._gradient = gradient
        elif self._owns:
            self._gradient += gradient
        else:
            self._gradient = self._gradient + gradient
            self._owns = True

    def pass_back(self, rounded):
        """Give the gradient to the operands and forget it."""
        gradient, self._gradient = self._gradient, None
        if gradient is not None:
            for operand, pull in self._operands:
                pulled = pull(gradient)
                shorter = Part(pulled.index, rounded(pulled.values)) if isinstance(pulled, Part) else rounded(pulled)
                operand.receive(shorter)
        self._operands = ()

    def take_gradient(self):
        return np.zeros(self.shape, self.dtype) if self._gradient is None else self._gradient


NO_RULE = "no rule for its derivative; declare one with bench.differentiation.primitive, or use functions that have one"


class Tape:
    """The variables in the order in which they were computed."""

    def __init__(self, rounded=None):
        """``rounded(array)`` gives each result and each gradient as a shorter type would hold it."""
        self._computed = []
        self._rounded = rounded or (lambda array: array)

    def variable(self, value):
        return Variable(self, self._rounded(value))

    def apply_ufunc(self, ufunc, operands):
        if ufunc in CONSTANT:
            return ufunc(*plain(operands))
        if ufunc not in UFUNCS:
            raise TypeError("numpy.{}: {}".format(ufunc.__name__, NO_RULE))
        dtype = next(operand.dtype for operand in operands if isinstance(operand, Variable))
        # NumPy 1 would compute float64 of a float32 number and a Python number.
        values = [dtype.type(value) if isinstance(value, (int, float)) else value for value in plain(operands)]
        result = ufunc(*values)
        return self._record(ufunc.__name__, result, operands, UFUNCS[ufunc](result, *values))

    def apply(self, name, rule, arguments, options):
        """Compute a function by its rule and record it; the operands are the arguments, or the list that is first."""
        values = plain(arguments)
        for option in options.values():
            if isinstance(option, Variable):
                raise TypeError("{}: a differentiated array must be a positional argument".format(name))
        result, pulls = rule(*values, **options)
        operands = arguments[0] if isinstance(arguments[0], (list, tuple)) else arguments
        return self._record(name, result, operands, pulls)

    def _record(self, name, result, operands, pulls):
        used = [
            (operand, pull)
            for operand, pull in zip(operands, pulls)
            if isinstance(operand, Variable) and pull is not None
        ]
        for operand, _ in used:
            if operand.dtype != result.dtype:
                raise TypeError("{}: {} became {}; a float array beside it has another dtype".format(
                    name, operand.dtype, result.dtype
                ))  # fmt: skip
        computed = Variable(self, self._rounded(result), used)
        self._computed.append(computed)
        return computed

    def gradients(self, output, variables):
        """Return the gradients of a number; the record is used up."""
        if not isinstance(output, Variable):
            return [variable.take_gradient() for variable in variables]
        if output.shape != ():
            raise TypeError("a loss is one number; this one has the shape {}".format(output.shape))
        output.receive(np.ones((), output.dtype))
        while self._computed:
            # What is popped is freed, with the arrays that its rule kept.
            self._computed.pop().pass_back(self._rounded)
        return [variable.take_gradient() for variable in variables]


def plain(value):
    """Return a value without variables: arrays in their place, in tuples and lists too."""
    if isinstance(value, Variable):
        return value.value
    if isinstance(value, (tuple, list)):
        return type(value)(plain(part) for part in value)
    return value


def _getitem(array, index):
    return array[index], (lambda gradient: Part(index, gradient),)


def primitive(rule):
    """Make a function that can be differentiated of a rule: ``rule(*arrays)`` returns (result, one pull each)."""

    def function(*arrays):
        variable = next((array for array in arrays if isinstance(array, Variable)), None)
        if variable is None:
            return rule(*arrays)[0]
        return variable._tape.apply(rule.__name__, rule, arrays, {})

    function.__name__, function.__doc__ = rule.__name__, rule.__doc__
    return function
