"""Makes steps in the form of Theano's Deep Learning Tutorials: classes of layers, shared variables, one function.

There are two forms: the tutorials' own, whose batches are slices of shared arrays that an index chooses (``givens``),
and the same function of a batch, as in Lasagne's examples. Adam is that of Lasagne's updates. The tutorials' activation
is tanh; here it is ReLU, as in ours. ``pool_2d`` gives the whole gradient to each of several equal maxima. It runs
on Python 3.8, which Theano needs.
"""

from __future__ import annotations

import numpy as np
import theano
import theano.tensor as T
from theano.tensor.nnet import conv2d
from theano.tensor.signal import pool

# The tutorials' users set it in .theanorc.
theano.config.floatX = "float32"
RATE = 0.05
GENERATOR = np.random.RandomState(1234)


def steps(workload, size, mode, batch):
    """Return ``{name: step}``; empty where there is none of the workload."""
    made = {"mlp-train": perceptron, "lenet-train": lenet, "catdog-cnn-train": catdog}.get(workload)
    return made(size, batch) if made else {}


def drawn(*shape):
    bound = np.sqrt(6.0 / np.sum(shape[:2]))
    return theano.shared(GENERATOR.uniform(-bound, bound, shape).astype(theano.config.floatX), borrow=True)


def zeros(width):
    return theano.shared(np.zeros(width, theano.config.floatX), borrow=True)


class Dense:
    """A layer of the tutorial "Multilayer Perceptron"."""

    def __init__(self, given, inputs, outputs, activation=None):
        self.params = [drawn(inputs, outputs), zeros(outputs)]
        linear = T.dot(given, self.params[0]) + self.params[1]
        self.output = linear if activation is None else activation(linear)


class Convolution:
    """The layer LeNetConvPoolLayer of the tutorial "LeNet": convolution, pooling, bias, activation."""

    def __init__(self, given, filter_shape, image_shape):
        self.params = [drawn(*filter_shape), zeros(filter_shape[0])]
        convolved = conv2d(given, self.params[0], filter_shape=filter_shape, input_shape=image_shape)
        pooled = pool.pool_2d(convolved, ws=(2, 2), ignore_border=True)
        self.output = T.nnet.relu(pooled + self.params[1].dimshuffle("x", 0, "x", "x"))


def sgd(cost, params):
    return [(param, param - np.float32(RATE) * slope) for param, slope in zip(params, T.grad(cost, params))]


def adam(cost, params, rate=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """Update as Lasagne's ``adam`` does."""
    one, previous = T.constant(np.float32(1)), theano.shared(np.float32(0))
    time = previous + 1
    scaled = rate * T.sqrt(one - beta2**time) / (one - beta1**time)
    found = [(previous, time)]
    for param, slope in zip(params, T.grad(cost, params)):
        zero = np.zeros(param.get_value(borrow=True).shape, param.dtype)
        means = [theano.shared(zero, broadcastable=param.broadcastable) for _ in range(2)]
        first = np.float32(beta1) * means[0] + (one - np.float32(beta1)) * slope
        second = np.float32(beta2) * means[1] + (one - np.float32(beta2)) * slope**2
        step = scaled.astype(param.dtype) * first / (T.sqrt(second) + np.float32(epsilon))
        found += [(means[0], first), (means[1], second), (param, param - step)]
    return found


def trained(network, batch, updates=sgd):
    """Compile ``network(inputs) -> layers`` in both forms; the last layer gives logits."""
    found = {}
    for name in ("tutorial, givens", "function of a batch"):
        inputs = T.TensorType(str(batch[0].dtype), (False,) * batch[0].ndim)("x")
        labels = T.TensorType(str(batch[1].dtype), (False,))("y")
        layers = network(inputs)
        likelihood = T.log(T.nnet.softmax(layers[-1].output))
        cost = -T.mean(likelihood[T.arange(labels.shape[0]), labels])
        changes = updates(cost, [param for layer in layers for param in layer.params])
        found[name] = (indexed if "givens" in name else direct)(inputs, labels, cost, changes, batch)
    return found


def indexed(inputs, labels, cost, changes, batch):
    index, count = T.lscalar(), len(batch[0])
    stored = [theano.shared(np.concatenate([array] * 2), borrow=True) for array in batch]
    chosen = [array[index * count : (index + 1) * count] for array in stored]
    function = theano.function([index], cost, updates=changes, givens=dict(zip((inputs, labels), chosen)))
    return lambda *_: {"loss": function(0)}


def direct(inputs, labels, cost, changes, batch):
    function = theano.function([inputs, labels], cost, updates=changes)
    return lambda *_: {"loss": function(*batch)}


def perceptron(size, batch):
    def network(inputs):
        layers, width = [], size["inputs"]
        for _ in range(size["layers"]):
            layers.append(Dense(layers[-1].output if layers else inputs, width, size["hidden"], T.nnet.relu))
            width = size["hidden"]
        return [*layers, Dense(layers[-1].output, width, size["classes"])]

    return trained(network, batch)


def convolutional(batch, filters, widths, classes, updates):
    count, side = batch[0].shape[:2]

    def network(images):
        layers, hidden, edge, channels = [], images.reshape((count, 1, side, side)), side, 1
        for outputs in filters:
            layers.append(Convolution(hidden, (outputs, channels, 5, 5), (count, channels, edge, edge)))
            hidden, edge, channels = layers[-1].output, (edge - 4) // 2, outputs
        hidden, width = hidden.flatten(2), channels * edge * edge
        for outputs in widths:
            layers.append(Dense(hidden, width, outputs, T.nnet.relu))
            hidden, width = layers[-1].output, outputs
        return [*layers, Dense(hidden, width, classes)]

    return trained(network, batch, updates)


def lenet(size, batch):
    return convolutional(batch, (6, 16), (120, 84), 10, sgd)


def catdog(size, batch):
    return convolutional(batch, [size["filters"] * factor for factor in (1, 2, 4)], (size["dense"],), 2, adam)
