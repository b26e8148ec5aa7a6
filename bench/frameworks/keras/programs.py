"""Makes the programs that Keras' users write: a model, compile, and Keras' own loops or its methods for a batch."""

from __future__ import annotations

import keras

from ...program import Program, Unsupported
from . import feeding
from .versions import AUTO, config, ops, optimizers, value_of, variables_of

#: Steps that one call of a compiled function does in ``fit``, as Keras advises for small models. PyTorch has no more
#: than one.
STEPS_PER_EXECUTION = {"tensorflow": 32, "jax": 32, "torch": 1}
LOSS = {"from_logits": True}


class Adam:
    """Adds epsilon after Adam's bias correction, as the specification and the other frameworks do; Keras does before.

    Keras' number is scaled so that both are equal in every step.
    """

    given = 0.0

    @property
    def epsilon(self):
        power = ops.power(ops.cast(self.beta_2, "float32"), ops.cast(self.iterations + 1, "float32"))
        return self.given * ops.sqrt(1.0 - power)

    @epsilon.setter
    def epsilon(self, value):
        self.given = value


def make_optimizer(settings):
    """Make the Keras optimizer that a specification's ``OPTIMIZER`` names."""
    rate = settings["learning_rate"]
    if settings["name"] == "sgd":
        return optimizers.SGD(rate, momentum=settings.get("momentum", 0.0))
    if settings["name"] == "adam":
        # On PyTorch, Keras has a class of its own, which updates all parameters together.
        kind = type(optimizers.Adam())
        options = {"beta_1": settings["beta1"], "beta_2": settings["beta2"], "epsilon": settings["epsilon"]}
        return type("Adam", (Adam, kind), {})(rate, **options)
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))


def training(model, parameters, transform, settings, names=None, layout=None, attention=None, feed=None):
    """Make the program that trains ``model``, which maps a batch's inputs to logits, on the mean cross-entropy.

    ``parameters`` are the specification's, in the order of the model's weights, or of ``names``. ``layout`` is that of
    its convolutions, ``attention`` the form of its attention, if it has any. ``feed(batches)`` gives the arguments with
    which ``fit`` gets its data from an input pipeline; without it, the batches lie on the device.
    """
    mode = transform.mode
    if mode.startswith("predict"):
        raise Unsupported("mode {} is for inference: use {}".format(mode, mode.replace("predict", "fit")))
    named = load(model, parameters, names)
    optimizer = make_optimizer(settings)
    optimizer.build(model.trainable_variables)
    executed = STEPS_PER_EXECUTION[config.backend()] if mode.startswith("fit") else 1
    loss = keras.losses.SparseCategoricalCrossentropy(**LOSS)
    model.compile(optimizer, loss, jit_compile=jit_of(mode), steps_per_execution=executed)
    fused = "by the compiler" if getattr(model, "jit_compile", jit_of(mode)) else False
    found = given(**{"layout": layout, "attention": attention, "optimizer": "keras", "fused optimizer": fused})
    model = transform(model, training=True, settings=lambda: found, part="step")
    every = (*model.variables, *variables_of(optimizer))
    initial = [(variable, ops.copy(value_of(variable))) for variable in every]

    def reset():
        for variable, value in initial:
            # Steps of JAX delete the arrays that they are given.
            variable.assign(ops.copy(value))

    run = fitted(model, feed or feeding.Feed(mode, "train-on-batch")) if mode.startswith("fit") else on_batches(model)
    return Program(
        lambda *batch: run((batch,)), lambda: {name: value_of(each) for name, each in named.items()}, reset, run,
        model.predict_on_batch, starts=mode.startswith("fit"),
    )  # fmt: skip


def fitted(model, feed):
    """Return ``run`` by ``fit``, which returns the mean loss of the steps: of one step, its loss."""

    def run(batches):
        return {"loss": model.fit(**feed(batches), verbose=0, shuffle=False).history["loss"][-1]}

    return run


def on_batches(model):
    """Return ``run`` by ``train_on_batch``, which makes a number of each step's loss."""

    def run(batches):
        for batch in batches:
            loss = model.train_on_batch(*batch)
        return {"loss": loss}

    return run


def inference(model, parameters, transform, output, names=None, attention=None):
    """Make the program of ``predict`` with ``model``, which maps a batch's input to what is called ``output``.

    ``predict`` returns the outputs of all batches as one array of NumPy's, of which the last batch's are compared.
    """
    mode = transform.mode
    if not mode.startswith("predict"):
        raise Unsupported("mode {} is for training: use predict".format(mode))
    load(model, parameters, names)
    model.compile(jit_compile=jit_of(mode))
    model = transform(model, settings=lambda: given(attention=attention))
    feed = feeding.Feed(mode, "another backend")

    def run(batches):
        outputs = model.predict(**feed(batches), verbose=0)
        return {output: outputs[-len(batches[-1][0]) :]}

    return Program(lambda *batch: run((batch,)), run=run, starts=True)


def jit_of(mode):
    return True if mode.endswith("-jit") else AUTO


def load(model, parameters, names=None):
    """Give the model the specification's parameters; return its variables by their names there."""
    named = dict(zip(names or parameters, model.trainable_variables))
    if len(named) != len(model.trainable_variables) or set(named) != set(parameters):
        raise ValueError("the model has {} weights for {}".format(len(model.trainable_variables), sorted(parameters)))
    for name, variable in named.items():
        variable.assign(parameters[name])
    return named


def given(**settings):
    """Return the settings that a program has."""
    return {name: value for name, value in settings.items() if value is not None}
