"""Makes the programs that Keras' users write: a model, compile, and Keras' own loops or its methods for a batch."""

from __future__ import annotations

import functools

import keras

from ...program import Program, Unsupported
from ..forms import given
from . import computed
from .versions import BACKEND, THREE, ops, optimizers

#: Steps that one call of a compiled function does in ``fit``, as Keras advises for small models; PyTorch can do one.
STEPS_PER_EXECUTION = {"tensorflow": 32, "jax": 32, "torch": 1}


class Adam:
    """Adds epsilon after the bias correction of Adam and AdamW, as the specification and others do; Keras does before.

    Keras' number is scaled so that both are equal in every step. ``listed`` gives it once for each variable: Keras adds
    it to a list of arrays. PyTorch's compiler ends its graph at one array, and the update ran op by op.
    """

    bare, listed = 0.0, False

    @property
    def epsilon(self):
        power = ops.power(ops.cast(self.beta_2, "float32"), ops.cast(self.iterations + 1, "float32"))
        scaled = self.bare * ops.sqrt(1.0 - power)
        return [scaled] * len(self._velocities) if self.listed else scaled

    @epsilon.setter
    def epsilon(self, value):
        self.bare = value


def make_optimizer(settings, mode):
    """Make the Keras optimizer that a specification's ``OPTIMIZER`` names, as ``mode`` executes it."""
    rate = settings["learning_rate"]
    if settings["name"] == "sgd":
        return optimizers.SGD(rate, momentum=settings.get("momentum", 0.0))
    if settings["name"] in ("adam", "adamw"):
        base = optimizers.AdamW if settings["name"] == "adamw" else optimizers.Adam
        # On PyTorch, Keras has classes of its own, which update all parameters together.
        listed = BACKEND == "torch" and mode.endswith("-jit")
        kind = type(base.__name__, (Adam, type(base())), {"listed": listed})
        decay = {"weight_decay": settings["weight_decay"]} if "weight_decay" in settings else {}
        return kind(rate, beta_1=settings["beta1"], beta_2=settings["beta2"], epsilon=settings["epsilon"], **decay)
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))


def training(model, parameters, transform, settings, names=None, layout=None, attention=None, feed=None):
    """Make the program that trains ``model``, which maps a batch's inputs to logits, on the mean cross-entropy.

    ``parameters`` are the specification's, with running statistics where there are any, in the order of the model's
    weights, or of ``names``, which may be ``{name: variable}``. ``layout`` and ``attention`` are what the model has.
    ``feed(batches)`` gives the arguments by which ``fit`` gets piped data.
    """
    mode = transform.mode
    if mode.startswith("predict"):
        raise Unsupported("mode {} is for inference: use {}".format(mode, mode.replace("predict", "fit")))
    fits = mode.startswith("fit")
    named, optimizer = load(model, parameters, names), make_optimizer(settings, mode)
    optimizer.build(model.trainable_variables)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    executed = STEPS_PER_EXECUTION[BACKEND] if fits else 1
    model.compile(optimizer, loss, jit_compile=jit_of(mode), steps_per_execution=executed)
    fused = "by the compiler" if getattr(model, "jit_compile", jit_of(mode)) else False
    found = given(layout=layout, optimizer="keras", **{"fused optimizer": fused})
    model = transform(model, training=True, settings=in_force(model, attention, found), part="step")
    state = (*model.variables, *(optimizer.variables if THREE else optimizer.variables()))
    initial = [(variable, ops.copy(ops.convert_to_tensor(variable))) for variable in state]
    feed = feed or feeding(mode, "train-on-batch")

    def reset():
        for variable, value in initial:
            # Steps of JAX delete the arrays that they are given.
            variable.assign(ops.copy(value))

    def fit(batches):
        # The mean loss of the steps: of one step, its loss.
        return {"loss": model.fit(**feed(batches), verbose=0, shuffle=False).history["loss"][-1]}

    def step(*batch):
        return fit((batch,)) if fits else {"loss": model.train_on_batch(*batch)}

    def current():
        return {name: ops.convert_to_tensor(variable) for name, variable in named.items()}

    return Program(step, current, reset, fit if fits else None, model.predict_on_batch, starts=fits)


def inference(model, parameters, transform, output, names=None, layout=None, attention=None):
    """Make the program of ``predict`` with ``model``, which maps a batch's input to what is called ``output``.

    ``predict`` returns the outputs of all batches as one array of NumPy's, of which the last batch's are compared.
    """
    mode = transform.mode
    if not mode.startswith("predict"):
        raise Unsupported("mode {} is for training: use predict".format(mode))
    load(model, parameters, names)
    model.compile(jit_compile=jit_of(mode))
    model = transform(model, settings=in_force(model, attention, given(layout=layout)))
    feed = feeding(mode, "another backend")

    def run(batches):
        return {output: model.predict(**feed(batches), verbose=0)[-len(batches[-1][0]) :]}

    return Program(lambda *batch: run((batch,)), run=run, starts=True)


def in_force(model, attention, found):
    """Return a function that reads settings back off the model, once, beside those that are ``found`` already."""

    @functools.lru_cache(maxsize=None)
    def read():
        return dict(found, **computed.products(model), **given(attention=computed.attention(model, attention)))

    return read


def feeding(mode, other):
    """Return a function of batches that gives the arguments of ``fit`` or ``predict``, which copies none of them.

    Refusals name ``mode``, and ``other``, which takes batches in any order.
    """
    if BACKEND == "jax":
        # A generator, whose arrays Keras passes on as they are.
        steps = "steps" if mode.startswith("predict") else "steps_per_epoch"
        return lambda batches: {"x": (tuple(batch) for batch in batches), steps: len(batches)}
    if BACKEND == "torch":
        from ..torch.loading import loader as make
    else:
        from ..tensorflow.repetition import Repetition

        make = Repetition(mode, other)
    return lambda batches: {"x": make(batches)}


def jit_of(mode):
    """Return the ``jit_compile`` of a mode; without "-jit" the choice stays Keras' own."""
    return True if mode.endswith("-jit") else "auto" if THREE else None


def load(model, parameters, names=None):
    """Give the model the specification's parameters; return its variables by their names there."""
    named = names if isinstance(names, dict) else dict(zip(names or parameters, model.weights))
    if len(named) != len(model.weights) or set(named) != set(parameters):
        raise ValueError("the model has {} weights for {}".format(len(model.weights), sorted(parameters)))
    for name, variable in named.items():
        variable.assign(parameters[name])
    return named
