"""Adapts PyTorch 1.x and 2.x: placing arrays, synchronising, the execution modes and the settings in force."""

from __future__ import annotations

import numpy as np
import torch

from ..program import Program, Unsupported


def apply_mode(function, mode, training):
    """Return ``function`` (an nn.Module or a function of tensors) as ``mode`` executes it."""
    if mode == "eager":
        return function
    if mode == "torchscript":
        scripted = torch.jit.script(function)
        if isinstance(function, torch.nn.Module) and not training:
            # What a deployment does: constants folded, dropout gone.
            scripted = torch.jit.freeze(scripted.eval())
        return scripted
    if mode == "compile":
        if not hasattr(torch, "compile"):
            raise Unsupported("torch {} has no torch.compile (PyTorch 2.0 brought it)".format(torch.__version__))
        return torch.compile(function, fullgraph=True, dynamic=False)
    raise ValueError("unknown mode {!r}".format(mode))


class Adapter:
    """PyTorch on one device, in one mode, at one precision."""

    def __init__(self, mode, device, precision, threads):
        if device == "gpu" and not torch.cuda.is_available():
            raise Unsupported("torch {} sees no GPU".format(torch.__version__))
        self.mode = mode
        self.device = torch.device("cuda" if device == "gpu" else "cpu")
        self.dtype = getattr(torch, precision)
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        if device == "gpu":
            # Full float32 unless the cell asks for less: PyTorch's own default changed between 1.7 and 1.12.
            torch.backends.cuda.matmul.allow_tf32 = False
            torch.backends.cudnn.allow_tf32 = False

    def put(self, array):
        tensor = torch.from_numpy(np.array(array))
        # Class indices are int64 in PyTorch; cross_entropy takes no others in 1.x.
        return tensor.to(self.device, self.dtype if tensor.is_floating_point() else torch.int64)

    def get(self, value):
        value = value.detach().cpu()
        return (value.double() if value.is_floating_point() else value).numpy()

    def synchronize(self, outputs):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def transform(self, function, training=False):
        return apply_mode(function, self.mode, training)

    def settings(self):
        found = {
            "threads": torch.get_num_threads(),
            "interop threads": torch.get_num_interop_threads(),
            "default dtype": str(torch.get_default_dtype()),
            "deterministic": torch.are_deterministic_algorithms_enabled(),
        }
        if hasattr(torch.backends, "cpu"):
            found["instruction set"] = torch.backends.cpu.get_cpu_capability()
        if hasattr(torch, "get_float32_matmul_precision"):
            found["float32 matmul"] = torch.get_float32_matmul_precision()
        if self.device.type == "cuda":
            found["TF32 matmul"] = torch.backends.cuda.matmul.allow_tf32
            found["TF32 cuDNN"] = torch.backends.cudnn.allow_tf32
            found["cuDNN autotuning"] = torch.backends.cudnn.benchmark
        return found

    def versions(self):
        return {"torch": torch.__version__}

    def memory(self):
        if self.device.type != "cuda":
            return {}
        return {
            "allocated_peak_bytes": torch.cuda.max_memory_allocated(self.device),
            "reserved_peak_bytes": torch.cuda.max_memory_reserved(self.device),
        }


def inference(module, transform, names):
    """Make the program of an nn.Module or function that maps a batch to one tensor or a tuple, named ``names``."""
    if isinstance(module, torch.nn.Module):
        module.eval()
    transformed = transform(module, training=False)

    def step(*batch):
        with torch.inference_mode():
            outputs = transformed(*batch)
        return dict(zip(names, outputs if isinstance(outputs, (tuple, list)) else (outputs,)))

    return Program(step)


def make_optimizer(parameters, settings):
    """Make the torch.optim optimizer that a specification's ``OPTIMIZER`` names, fused where this version can."""
    if settings["name"] == "sgd":
        kind, options = torch.optim.SGD, {"momentum": settings.get("momentum", 0.0)}
    elif settings["name"] == "adam":
        kind, options = torch.optim.Adam, {"betas": (settings["beta1"], settings["beta2"]), "eps": settings["epsilon"]}
    else:
        raise ValueError("unknown optimizer {!r}".format(settings["name"]))
    parameters = list(parameters)
    try:
        return kind(parameters, lr=settings["learning_rate"], fused=True, **options)
    except (TypeError, RuntimeError):
        # SGD has had the keyword since 2.3; Adam's refused parameters on a processor until 2.4.
        return kind(parameters, lr=settings["learning_rate"], **options)


def module_training(module, transform, settings, parameters):
    """Make the program that trains ``module``, whose forward gives the loss of a batch.

    ``settings`` is the specification's OPTIMIZER; ``parameters()`` gives the parameters in the specification's names.
    Forward and backward run in the cell's mode, the optimizer as torch.optim ships it.
    """
    module.train()
    initial = {name: value.clone() for name, value in module.state_dict().items()}
    optimizer = make_optimizer(module.parameters(), settings)
    transformed = transform(module, training=True)

    def step(*batch):
        optimizer.zero_grad(set_to_none=True)
        loss = transformed(*batch)
        loss.backward()
        optimizer.step()
        return {"loss": loss}

    def reset():
        module.load_state_dict(initial)
        for state in optimizer.state.values():
            for value in state.values():
                if torch.is_tensor(value):
                    value.zero_()

    return Program(step, parameters, reset)
