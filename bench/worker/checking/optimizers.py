"""Applies the optimizers of the specifications, in NumPy and in the dtype of the parameters."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np


def update(
    optimizer: Dict[str, Any], state: Dict[str, Any], parameters: Dict[str, Any], gradients: Dict[str, Any]
) -> None:
    """Apply one step of a specification's OPTIMIZER in place, in the dtype of the parameters. Raises ValueError.

    SGD with momentum follows PyTorch, optax and TensorFlow (velocity = momentum * velocity + gradient); Adam follows
    Kingma & Ba 2015, algorithm 1; AdamW Loshchilov & Hutter 2019, algorithm 2, with the decay times the learning rate.
    """
    rate = optimizer["learning_rate"]
    state["count"] = state.get("count", 0) + 1
    for name, gradient in gradients.items():
        if optimizer["name"] == "sgd":
            velocity = optimizer.get("momentum", 0.0) * state.get(("velocity", name), 0.0) + gradient
            state["velocity", name] = velocity
            change = rate * velocity
        elif optimizer["name"] in ("adam", "adamw"):
            beta1, beta2 = optimizer["beta1"], optimizer["beta2"]
            mean = beta1 * state.get(("mean", name), 0.0) + (1 - beta1) * gradient
            square = beta2 * state.get(("square", name), 0.0) + (1 - beta2) * gradient**2
            state["mean", name], state["square", name] = mean, square
            # The frameworks compute the corrections in the parameters' precision, where 1 - 0.999 loses bits.
            cast = parameters[name].dtype.type
            mean = mean / (cast(1) - cast(beta1) ** state["count"])
            square = square / (cast(1) - cast(beta2) ** state["count"])
            change = rate * mean / (np.sqrt(square) + optimizer["epsilon"])
            if optimizer["name"] == "adamw":
                change = change + rate * optimizer["weight_decay"] * parameters[name]
        else:
            raise ValueError("unknown optimizer {!r}".format(optimizer["name"]))
        parameters[name] = (parameters[name] - change).astype(parameters[name].dtype)
