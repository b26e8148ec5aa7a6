"""Plants the conventions of other optimizers, and of other frameworks' optimizers of the same name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from planted_mistake import Mistake

from bench.worker.checking import optimizers


def options(**others) -> Mistake:
    """Use the right rule with other constants."""
    return Mistake(update=lambda optimizer, *rest: optimizers.update({**optimizer, **others}, *rest))


def sgd(rule: Callable) -> Mistake:
    """Step by a rule of (momentum, last velocity or None, gradient), which returns the velocity and the step."""

    def update(optimizer, moments, parameters, gradients):
        for name, gradient in gradients.items():
            moments[name], step = rule(optimizer["momentum"], moments.get(name), gradient)
            parameters[name] = (parameters[name] - optimizer["learning_rate"] * step).astype(np.float32)

    return Mistake(update=update)


def adam(rule: Callable) -> Mistake:
    """Step by a rule of (optimizer, count, mean, square), without decay but as AdamW, where that is the optimizer."""

    def update(optimizer, moments, parameters, gradients):
        moments["count"] = count = moments.get("count", 0) + 1
        rate, decay = optimizer["learning_rate"], optimizer.get("weight_decay", 0.0)
        for name, gradient in gradients.items():
            mean, square = moments.get(name, (0.0, 0.0))
            mean = optimizer["beta1"] * mean + (1 - optimizer["beta1"]) * gradient
            square = optimizer["beta2"] * square + (1 - optimizer["beta2"]) * gradient**2
            moments[name] = mean, square
            step = rule(optimizer, count, mean, square) + decay * parameters[name]
            parameters[name] = (parameters[name] - rate * step).astype(np.float32)

    return Mistake(update=update)


def decayed(decay: Callable) -> Mistake:
    """Replace what AdamW subtracts for the decay; ``decay(optimizer, parameter)`` gives it."""

    def update(optimizer, moments, parameters, gradients):
        before = dict(parameters)
        optimizers.update({**optimizer, "name": "adam"}, moments, parameters, gradients)
        for name, value in before.items():
            parameters[name] = (parameters[name] - decay(optimizer, value)).astype(np.float32)

    return Mistake(update=update)


def regularised(decay: float | None = None) -> Mistake:
    """Add the decay to the gradient, as a penalty of the squared weights does, and not to the step."""

    def update(optimizer, moments, parameters, gradients):
        share = np.float32(optimizer["weight_decay"] if decay is None else decay)
        penalised = {name: gradient + share * parameters[name] for name, gradient in gradients.items()}
        right = {**optimizer, "name": "adam"} if optimizer["name"] == "adamw" else optimizer
        optimizers.update(right, moments, parameters, penalised)

    return Mistake(update=update)


def of_matrices(optimizer, value):
    return optimizer["learning_rate"] * optimizer["weight_decay"] * value * (value.ndim > 1)


def corrections(optimizer: dict, count: float) -> tuple[float, float]:
    return 1 - optimizer["beta1"] ** count, 1 - optimizer["beta2"] ** count


def epsilon_inside(optimizer, count, mean, square):
    first, second = corrections(optimizer, count)
    return mean / first / np.sqrt(square / second + optimizer["epsilon"])


def epsilon_first(optimizer, count, mean, square):
    """Add epsilon before the bias correction, as Keras and the kernels of TensorFlow do."""
    first, second = corrections(optimizer, count)
    return mean * (second**0.5 / first) / (np.sqrt(square) + optimizer["epsilon"])


def corrected(mean_too: bool, square_too: bool, ahead: int = 0) -> Callable:
    def rule(optimizer, count, mean, square):
        found = corrections(optimizer, count + ahead)
        first, second = found[0] if mean_too else 1, found[1] if square_too else 1
        return mean / first / (np.sqrt(square / second) + optimizer["epsilon"])

    return rule


def dampened(momentum, velocity, gradient):
    """Leave the first velocity whole, as PyTorch's ``dampening`` does."""
    found = gradient if velocity is None else momentum * velocity + (1 - momentum) * gradient
    return found, found


def averaged(momentum, velocity, gradient):
    found = (1 - momentum) * gradient + (0 if velocity is None else momentum * velocity)
    return found, found


def nesterov(momentum, velocity, gradient):
    found = gradient if velocity is None else momentum * velocity + gradient
    return found, gradient + momentum * found


def velocity_with_rate(optimizer, moments, parameters, gradients):
    """Let the velocity hold the rate, as Keras does; that is the same while the rate is."""
    for name, gradient in gradients.items():
        moments[name] = optimizer["momentum"] * moments.get(name, 0) - optimizer["learning_rate"] * gradient
        parameters[name] = (parameters[name] + moments[name]).astype(np.float32)


def decay_first(optimizer, moments, parameters, gradients):
    """Let parameters decay before the step, as PyTorch does; optax and the specification add both."""
    for name, value in parameters.items():
        parameters[name] = (value * (1 - optimizer["learning_rate"] * optimizer["weight_decay"])).astype(np.float32)
    optimizers.update({**optimizer, "name": "adam"}, moments, parameters, gradients)


def same(case):
    """Return conventions that differ in words or in rounding alone: a check that finds one has a false alarm."""
    found = {}
    if case.optimizer.get("momentum"):
        found["velocity with the rate"] = Mistake(update=velocity_with_rate)
    if case.adaptive:
        found["corrections in double precision"] = adam(corrected(True, True))
    if case.optimizer["name"] == "adamw":
        found["decay before the step"] = Mistake(update=decay_first)
    return found


def rows(case):
    yield "learning rate 0.1 % too large", options(learning_rate=1.001 * case.optimizer["learning_rate"])
    yield from momentum_rows(case)
    yield from adam_rows(case)
    yield from decay_rows(case)


def momentum_rows(case):
    adam_s = "Adam has no velocity" if case.adaptive else ""
    momentum = case.optimizer.get("momentum")
    none = adam_s or ("" if momentum else "no momentum")
    yield "momentum where there is none", adam_s or ("it has momentum" if momentum else options(momentum=0.9))
    yield "momentum missing", none or options(momentum=0.0)
    yield "momentum 0.99", none or options(momentum=0.99)
    yield "momentum dampened", none or sgd(dampened)
    yield "momentum of averages", none or sgd(averaged)
    yield "momentum of Nesterov", none or sgd(nesterov)


def adam_rows(case):
    other = "" if case.adaptive else "not Adam"
    yield "epsilon inside the square root", other or adam(epsilon_inside)
    near = "its effect is near that of rounding with a beta2 of 0.95" if case.optimizer.get("beta2") == 0.95 else ""
    yield "epsilon before the bias correction", other or near or adam(epsilon_first)
    yield "epsilon of another framework", other or {str(value): options(epsilon=value) for value in (1e-7, 1e-4)}
    missing = {"both": (False, False), "of the mean": (False, True), "of the square": (True, False)}
    yield "bias correction missing", other or {name: adam(corrected(*used)) for name, used in missing.items()}
    yield "bias correction of the next step", other or adam(corrected(True, True, ahead=1))
    yield "beta1 0.8", other or options(beta1=0.8)
    betas = {0.95, 0.99, 0.999} - {case.optimizer.get("beta2")}
    yield "beta2 of another script", other or {str(value): options(beta2=value) for value in sorted(betas)}


def decay_rows(case):
    name = case.optimizer["name"]
    decoupled = "" if name == "adamw" else "no decay"
    yield "penalty where there is no decay", regularised(1e-4) if decoupled else "it decays"
    apart = {"adam": "", "adamw": "it decays", "sgd": "in SGD the same as a penalty"}[name]
    yield "decay where there is none", apart or options(name="adamw", weight_decay=0.01)
    yield "decay missing", decoupled or options(name="adam")
    yield "decay of PyTorch, 0.01", decoupled or options(weight_decay=0.01)
    yield "decay as a penalty", decoupled or regularised()
    yield "decay without the rate", decoupled or decayed(lambda optimizer, value: optimizer["weight_decay"] * value)
    yield "decay of matrices alone", decoupled or decayed(of_matrices)
