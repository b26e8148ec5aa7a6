"""Plants layouts of other frameworks: of weights, kernels, images, heads, gates and sequences."""

from __future__ import annotations

from planted_mistake import Mistake

from bench.workloads import attention, cnn, resnet

from .networks import gates, lstm


def reading(names, layout):
    """Let the network read these parameters by a function of them."""

    def read(parameters):
        return {name: layout(value) if name in names else value for name, value in parameters.items()}

    return Mistake(read=read)


def transposed(weight):
    """Read the memory of (inputs, outputs) as (outputs, inputs)."""
    return weight.reshape(weight.shape[::-1]).T


def outputs_first(kernel):
    """Read the memory of (height, width, inputs, outputs) as (outputs, inputs, height, width)."""
    height, width, inputs, outputs = kernel.shape
    return kernel.reshape(outputs, inputs, height, width).transpose(2, 3, 1, 0)


def channels_first(images):
    count, height, width, channels = images.shape
    return images.reshape(count, channels, height, width).transpose(0, 2, 3, 1)


def images(layout):
    """Let convolutional and residual networks read images by a function of them."""
    small, large = cnn.forward, resnet.forward
    return Mistake(
        replaced=(
            (cnn, "forward", lambda parameters, images: small(parameters, layout(images))),
            (resnet, "forward", lambda size, parameters, images, *rest: large(size, parameters, layout(images), *rest)),
        )
    )


def flattened(case):
    """Flatten (channels, height, width): the rows of the first dense layer have another order."""
    channels = next(value.shape[0] for name, value in reversed(case.drawn.items()) if name.startswith("conv"))

    def layout(weight):
        rows, outputs = weight.shape
        side = round((rows // channels) ** 0.5)
        return weight.reshape(channels, side, side, outputs).transpose(1, 2, 0, 3).reshape(rows, outputs)

    return reading(["dense1_weight"], layout)


def heads_first(projected, parts, heads):
    batch, sequence, columns = projected.shape
    return tuple(projected.reshape(batch, sequence, heads, parts, columns // (parts * heads)).transpose(3, 0, 2, 1, 4))


def not_moved_back(separate):
    batch, heads, sequence, width = separate.shape
    return separate.reshape(batch, sequence, heads * width)


def sequence_first():
    """Take the axis of the batch for that of the sequence."""
    split, merge, recur = attention.split_heads, attention.merge_heads, lstm.recur
    return Mistake(
        replaced=(
            (attention, "split_heads", lambda projected, *rest: split(projected.swapaxes(0, 1), *rest)),
            (attention, "merge_heads", lambda separate: merge(separate).swapaxes(0, 1)),
            (lstm, "recur", lambda inputs, *weights: recur(inputs.swapaxes(0, 1), *weights).swapaxes(0, 1)),
        )
    )


def rows(case):
    network = case.network
    matrices = [name for name, value in case.drawn.items() if value.ndim == 2]
    kernels = [name for name, value in case.drawn.items() if value.ndim == 4]
    unread = "" if network != "given gradients" else "no layer reads the tensors"
    plain = "" if kernels else "no convolution"
    yield "weight transposed", unread or {name: reading([name], transposed) for name in matrices}
    yield (
        "kernels with height and width exchanged",
        plain or reading(kernels, lambda kernel: kernel.transpose(1, 0, 2, 3)),
    )
    yield "kernels mirrored", plain or reading(kernels, lambda kernel: kernel[::-1, ::-1])
    yield "kernels with outputs first", plain or reading(kernels, outputs_first)
    yield "images with height and width exchanged", plain or images(lambda images: images.transpose(0, 2, 1, 3))
    grey = "grey images have the same memory" if network == "convolutions" else ""
    yield "images with channels first", plain or grey or images(channels_first)
    whole = "" if network == "convolutions" else "a mean over the image leaves the channels"
    yield "flattening with channels first", plain or whole or flattened(case)
    headless = "" if network == "transformer" else "no heads"
    yield (
        "heads before queries, keys and values",
        headless or Mistake(replaced=((attention, "split_heads", heads_first),)),
    )
    yield "heads not moved back", headless or Mistake(replaced=((attention, "merge_heads", not_moved_back),))
    alone = "" if network in ("transformer", "recurrent") else "no sequences"
    yield "sequence and batch exchanged", alone or sequence_first()
    ungated = "" if network == "recurrent" else "no gates"
    orders = {"input, forget, output, cell": (0, 1, 3, 2), "input, cell, forget, output": (0, 2, 1, 3)}
    yield "gates in another order", ungated or {name: gates(order) for name, order in orders.items()}
