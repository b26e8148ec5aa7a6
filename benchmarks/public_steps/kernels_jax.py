"""Makes runs of JAX's functions and of the recipes in its documentation, each under jax.jit; optimizers are optax'."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax import lax
from transforms_jax import Loop, jitted


def runs(workload, size, mode, batch, parameters):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch; empty where there are none."""
    if workload in OPTIMIZERS:
        return {"optax": optimizer(OPTIMIZERS[workload], mode, batch, parameters)}
    own = FUNCTIONS[workload](size) if workload in FUNCTIONS else {}
    if workload == "conv2d-depthwise":
        # A convolution in groups takes a kernel with an axis for the inputs of a group.
        parameters = {"weight": parameters["weight"][:, :, None]}
    inputs = {name: INPUTS[name](*batch) for name in own if name in INPUTS}
    return {
        name: looped(jitted(function, mode, (parameters, *inputs.get(name, batch))), mode, parameters, inputs.get(name))
        for name, function in own.items()
    }


def looped(function, mode, parameters, inputs=None):
    """Call a function for each batch; if given, ``inputs`` replace the batch: its images in another layout.

    Calls that are dispatched asynchronously are waited for one by one, as ours are.
    """
    wait = jax.block_until_ready if mode == "jit-async" else lambda outputs: None

    def run(batches):
        for batch in batches if inputs is None else [inputs] * len(batches):
            outputs = function(parameters, *batch)
            wait(outputs)
        return {"outputs": outputs}

    return run


def embedding_bag(size):
    def summed(parameters, indices):
        return jax.vmap(lambda bag: parameters["table"][bag].sum(axis=0))(indices)

    return {"take": lambda parameters, indices: jnp.take(parameters["table"], indices, axis=0).sum(1), "vmap": summed}


def scatter_add(size):
    shape = size["groups"], size["width"]
    return {"at.add": lambda parameters, rows, groups: jnp.zeros(shape).at[groups].add(rows)}


def batched_gemm(size):
    return {
        "matmul": lambda parameters, left, right: jnp.matmul(left, right),
        "einsum": lambda parameters, left, right: jnp.einsum("bij,bjk->bik", left, right),
        "vmap(dot)": lambda parameters, left, right: jax.vmap(jnp.dot)(left, right),
    }


def conv2d(size, groups=1):
    """Convolve in both layouts of images: see ``INPUTS``."""

    def convolved(parameters, images, layout):
        weight, form = parameters["weight"], (layout, "HWIO", layout)
        return lax.conv_general_dilated(
            images, weight, (1, 1), "SAME", dimension_numbers=form, feature_group_count=groups
        )

    return {
        "lax.conv, NHWC": lambda parameters, images: convolved(parameters, images, "NHWC"),
        "lax.conv, NCHW": lambda parameters, images: convolved(parameters, images, "NCHW"),
    }


def draws(draw, size):
    return {"jax.random": lambda parameters, seed: draw(jax.random.key(seed[0]), (size["draws"],))}


def loss(parameters, inputs, labels, activate):
    count, hidden = len(parameters) // 2, inputs
    for index in range(count):
        hidden = hidden @ parameters[f"weight{index}"] + parameters[f"bias{index}"]
        hidden = activate(hidden) if index < count - 1 else hidden
    return optax.softmax_cross_entropy_with_integer_labels(hidden, labels).mean()


def per_sample_gradients(size):
    """Differentiate as the autodiff cookbook does: vmap of grad."""
    one = jax.grad(lambda parameters, row, label: loss(parameters, row, label, jax.nn.relu))
    return {"vmap(grad)": jax.vmap(one, in_axes=(None, 0, 0))}


def hessian_vector(size):
    """Multiply as the autodiff cookbook does: forward over reverse, and reverse over reverse."""
    # A traced function gets the names sorted.
    names = [f"{kind}{index}" for index in range(size["layers"] + 1) for kind in ("weight", "bias")]

    def gradient(inputs, labels):
        return jax.grad(lambda parameters: loss(parameters, inputs, labels, jnp.tanh))

    def forward_over_reverse(parameters, inputs, labels, *vectors):
        return jax.jvp(gradient(inputs, labels), (parameters,), (dict(zip(names, vectors, strict=True)),))[1]

    def reverse_over_reverse(parameters, inputs, labels, *vectors):
        return jax.vjp(gradient(inputs, labels), parameters)[1](dict(zip(names, vectors, strict=True)))[0]

    return {"jvp(grad)": forward_over_reverse, "vjp(grad)": reverse_over_reverse}


def optimizer(transformation, mode, batch, parameters):
    """Step as optax' quick start does."""
    trained = [jnp.array(value) for value in parameters.values()]

    def update(state, loss, gradients):
        trained, memory = state
        updates, memory = transformation.update(gradients, memory, trained)
        return (optax.apply_updates(trained, updates), memory), loss

    state = trained, transformation.init(trained)
    if mode == "jit-loop":
        return repeating(Loop(update, state, (batch[0], list(batch[1:]))), batch)
    transformed = jitted(update, mode, (state, batch[0], list(batch[1:])), donate_argnums=0)
    current = [state]

    def run(batches):
        for loss, *gradients in batches:
            current[0], _ = transformed(current[0], loss, gradients)
        return {"loss": batches[-1][0], "outputs": current[0][0]}

    return run


def repeating(loop, batch):
    """Run a loop over a batch that repeats; another one, as in the comparison with float64, replaces it."""
    loaded = [batch[0]]

    def run(batches):
        if batches[0][0] is not loaded[0]:
            loaded[0] = batches[0][0]
            loop.load((batches[0][0], list(batches[0][1:])))
        return {**loop.run(batches), "outputs": loop.state[0]}

    return run


FUNCTIONS = {
    "embedding-bag": embedding_bag, "scatter-add": scatter_add, "batched-gemm": batched_gemm, "conv2d": conv2d,
    "conv2d-depthwise": lambda size: conv2d(size, size["channels"]), "per-sample-gradients": per_sample_gradients,
    "hessian-vector": hessian_vector,
    "random-normal": lambda size: draws(jax.random.normal, size),
    "random-uniform": lambda size: draws(jax.random.uniform, size),
}  # fmt: skip
OPTIMIZERS = {
    "optimizer-step-sgd": optax.sgd(0.05, momentum=0.9), "optimizer-step-adam": optax.adam(1e-3),
    "optimizer-step-adamw": optax.adamw(1e-3, weight_decay=0.1),
}  # fmt: skip
#: What gives a kernel the images of a batch in its layout, before it is timed; and its outputs in that of ours.
INPUTS = {"lax.conv, NCHW": lambda images: (images.transpose(0, 3, 1, 2),)}
OUTPUTS = {"lax.conv, NCHW": lambda images: images.transpose(0, 2, 3, 1)}
