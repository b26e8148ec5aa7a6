"""Makes runs of PyTorch's functions and recipes: torch.nn's layers, torch.optim, torch.func's tutorials."""

from __future__ import annotations

import itertools

import torch
from torch import nn
from torch.nn import functional
from with_torch import COMPILED

from bench.frameworks.torch.optimizers import tensors_of


def runs(workload, size, mode, batch, parameters):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch; empty where there are none.

    TorchScript is left out: these are functions, and it has the same ones.
    """
    if mode == "torchscript" or workload not in {**FUNCTIONS, **OPTIMIZERS}:
        return {}
    if workload in OPTIMIZERS:
        return optimizers(OPTIMIZERS[workload], mode, batch, parameters)
    own = FUNCTIONS[workload](size, parameters)
    inputs = {name: INPUTS[name](*batch) for name in own if name in INPUTS}
    if mode in COMPILED:
        # PyTorch 2.15 compiles it without a second backward pass, and returns zeros.
        own.pop("autograd.functional.vhp", None)
    differentiates = workload in ("per-sample-gradients", "hessian-vector")
    return {
        name: looped(transformed(function, mode), differentiates, inputs.get(name)) for name, function in own.items()
    }


def transformed(function, mode):
    return torch.compile(function, dynamic=False, **COMPILED[mode]) if mode in COMPILED else function


def looped(function, differentiates, inputs=None):
    """Call a function for each batch, as a loop of a user does.

    If given, ``inputs`` replace the batch: its images in another layout.
    """

    def run(batches):
        for batch in batches if inputs is None else [inputs] * len(batches):
            outputs = function(*batch)
        return {"outputs": outputs}

    return run if differentiates else torch.inference_mode()(run)


def embedding_bag(size, parameters):
    bags = nn.EmbeddingBag.from_pretrained(parameters["table"], mode="sum")
    rows = nn.Embedding.from_pretrained(parameters["table"])
    return {"nn.EmbeddingBag": bags, "nn.Embedding": lambda indices: rows(indices).sum(dim=1)}


def scatter_add(size, parameters):
    """Scatter as PyTorch Geometric does, and with index_add_."""

    def scattered(rows, groups):
        zeros = rows.new_zeros(size["groups"], size["width"])
        return zeros.scatter_add_(0, groups.view(-1, 1).expand_as(rows), rows)

    def added(rows, groups):
        return torch.zeros(size["groups"], size["width"]).index_add_(0, groups, rows)

    return {"scatter_add_": scattered, "index_add_": added}


def batched_gemm(size, parameters):
    return {
        "matmul": torch.matmul,
        "einsum": lambda left, right: torch.einsum("bij,bjk->bik", left, right),
    }


def conv2d(size, parameters, depthwise=False):
    """Convolve images that lie in PyTorch's default layout, and in channels_last: see ``INPUTS``."""
    filters = size["channels"]
    layers = {
        name: nn.Conv2d(filters, filters, 3, padding=1, bias=False, groups=filters if depthwise else 1)
        for name in INPUTS
    }
    weight = parameters["weight"].unsqueeze(2) if depthwise else parameters["weight"]
    with torch.no_grad():
        for layer in layers.values():
            layer.weight.copy_(weight.permute(3, 2, 0, 1))
    plain = layers["nn.Conv2d"]
    moved = layers["nn.Conv2d, channels_last"].to(memory_format=torch.channels_last)
    return {"nn.Conv2d": lambda images: plain(images), "nn.Conv2d, channels_last": lambda images: moved(images)}


def normal(size, parameters):
    return {
        "torch.randn": lambda seed: torch.randn(size["draws"]),
        "normal_": lambda seed: torch.empty(size["draws"]).normal_(),
    }


def uniform(size, parameters):
    return {
        "torch.rand": lambda seed: torch.rand(size["draws"]),
        "uniform_": lambda seed: torch.empty(size["draws"]).uniform_(),
    }


def perceptron(size, activation):
    widths = [size["inputs"]] + [size["hidden"]] * size["layers"]
    hidden = [layer for pair in itertools.pairwise(widths) for layer in (nn.Linear(*pair), activation())]
    return nn.Sequential(*hidden, nn.Linear(widths[-1], size["classes"]))


def per_sample_gradients(size, parameters):
    """Differentiate as the tutorial of torch.func does: vmap of grad of a functional call."""
    library, call = transformations()
    network = perceptron(size, nn.ReLU)
    values = {name: value.detach() for name, value in network.named_parameters()}
    for value, given in zip(values.values(), parameters.values(), strict=True):
        # nn.Linear has the outputs first.
        value.copy_(given.t())

    def loss(values, row, label):
        return functional.cross_entropy(call(network, values, (row.unsqueeze(0),)), label.unsqueeze(0))

    differentiated = library.vmap(library.grad(loss), in_dims=(None, 0, 0))
    return {"vmap(grad)": lambda inputs, labels: differentiated(values, inputs, labels)}


def hessian_vector(size, parameters):
    """Multiply as torch.autograd.functional does, and as the tutorial of torch.func: jvp of grad."""
    names = list(parameters)

    def loss(values, inputs, labels):
        hidden = inputs
        for index in range(0, len(values), 2):
            hidden = functional.linear(hidden, values[index].t(), values[index + 1])
            hidden = torch.tanh(hidden) if index < len(values) - 2 else hidden
        return functional.cross_entropy(hidden, labels)

    values = tuple(parameters[name] for name in names)

    def twice(inputs, labels, *vectors):
        return torch.autograd.functional.vhp(lambda *values: loss(values, inputs, labels), values, vectors)[1]

    found = {"autograd.functional.vhp": twice}
    if hasattr(torch, "func"):

        def forward_over_reverse(inputs, labels, *vectors):
            return torch.func.jvp(torch.func.grad(lambda values: loss(values, inputs, labels)), (values,), (vectors,))[
                1
            ]

        found["jvp(grad)"] = forward_over_reverse
    return found


def transformations():
    if hasattr(torch, "func"):
        return torch.func, torch.func.functional_call
    import functorch
    from torch.nn.utils.stateless import functional_call

    return functorch, functional_call


def optimizers(make, mode, batch, parameters):
    """Make steps of torch.optim: as it is by default, with foreach, fused; compiled where the mode compiles a step."""
    found = {}
    for name, options in {"default": {}, "foreach": {"foreach": True}, "fused": {"fused": True}}.items():
        trained = [nn.Parameter(value.clone()) for value in parameters.values()]
        for parameter, gradient in zip(trained, batch[1:], strict=True):
            parameter.grad = gradient
        try:
            optimizer = make(trained, **options)
            optimizer.step()
        except (TypeError, RuntimeError):
            continue
        restart(optimizer, trained, parameters)
        advance = torch.compile(optimizer.step) if mode in COMPILED else optimizer.step
        found["torch.optim, " + name] = stepping(trained, advance)
    return found


def restart(optimizer, trained, parameters):
    """Take back the steps of an optimizer, whose state keeps its tensors."""
    with torch.no_grad():
        for value, given in zip(trained, parameters.values(), strict=True):
            value.copy_(given)
        for tensor in tensors_of(optimizer):
            tensor.zero_()


def stepping(trained, advance):
    """Do steps with gradients of their own, as ours do."""

    def run(batches):
        for batch in batches:
            for parameter, gradient in zip(trained, batch[1:], strict=True):
                parameter.grad = gradient
            advance()
        return {"loss": batch[0], "outputs": trained}

    return run


FUNCTIONS = {
    "embedding-bag": embedding_bag, "scatter-add": scatter_add, "batched-gemm": batched_gemm, "conv2d": conv2d,
    "conv2d-depthwise": lambda size, parameters: conv2d(size, parameters, depthwise=True), "random-normal": normal,
    "random-uniform": uniform, "per-sample-gradients": per_sample_gradients, "hessian-vector": hessian_vector,
}  # fmt: skip
OPTIMIZERS = {
    "optimizer-step-sgd": lambda trained, **options: torch.optim.SGD(trained, 0.05, momentum=0.9, **options),
    "optimizer-step-adam": lambda trained, **options: torch.optim.Adam(trained, 1e-3, **options),
    "optimizer-step-adamw": lambda trained, **options: torch.optim.AdamW(trained, 1e-3, weight_decay=0.1, **options),
}
#: What gives a kernel the images of a batch in its layout, before it is timed.
INPUTS = {
    "nn.Conv2d": lambda images: (images.permute(0, 3, 1, 2).contiguous(),),
    "nn.Conv2d, channels_last": lambda images: (images.permute(0, 3, 1, 2),),
}
#: What puts the outputs of a kernel into the layout of the specification: images, and weights with the inputs first.
OUTPUTS = {
    **dict.fromkeys(INPUTS, lambda images: images.permute(0, 2, 3, 1)),
    "vmap(grad)": lambda found: [value.transpose(1, 2) if value.dim() == 3 else value for value in found.values()],
}
