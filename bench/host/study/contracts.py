"""Checks that other people's facts and specifications hold what the rest of the program reads, before anything runs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from bench.cell import PRECISIONS
from bench.frameworks.facts import Facts, Mode
from bench.registry import BENCH, Registry, folder_of

from .suggestion import shown, unknown

#: What a specification must define; see bench.workloads.
VALUES = ("ITEM", "SIZES", "PRECISIONS", "TRAINING")
FUNCTIONS = {
    "parameters": "size, random",
    "batch": "size, random, source=None",
    "items": "size",
    "useful_flops": "size",
    "compulsory_bytes": "size, itemsize",
}
#: What it must define beside them if it trains, and if it does not.
OF_TRAINING = {"loss": "size, parameters, state, batch"}
OF_INFERENCE = {"reference": "size, parameters, batch"}
#: {optimizer: its numbers}; see bench.worker.checking.optimizers. SGD may have a momentum, too.
OPTIMIZERS = {
    "sgd": ("learning_rate",),
    "adam": ("learning_rate", "beta1", "beta2", "epsilon"),
    "adamw": ("learning_rate", "beta1", "beta2", "epsilon", "weight_decay"),
}
PARTS = ("module", "step")
#: Characters of the name of a framework.
LONGEST_NAME = 100


def check_facts(registry: Registry, framework: str) -> list[str]:
    """Load the facts of a framework that another source defines or extends; list what is wrong with them."""
    sources = [source for source in registry.defining(framework) if source != BENCH]
    for source in sources:
        place = f"{source.name}/frameworks/{framework}/"
        if source.has("frameworks", framework, "facts.py"):
            given: Any = source.load("frameworks", framework, "facts")
            problems = [place + f"facts.py: {problem}" for problem in _wrong_facts(given)]
            if not source.has("frameworks", framework, "adapter.py"):
                problems.append(f"{place} has no adapter.py, which every framework needs; see bench.frameworks.")
        else:
            given = source.load("frameworks", framework, "modes")
            problems = [place + f"modes.py: {problem}" for problem in _wrong_extension(given)]
        if problems:
            return problems
    names = registry.facts(framework).mode_names
    return [
        f"{sources[-1].name}/frameworks/{framework}: mode {mode!r} of {framework!r} exists already; rename it."
        for mode in dict.fromkeys(names)
        if names.count(mode) > 1
    ]


def _wrong_facts(module: Any) -> Iterator[str]:
    facts = getattr(module, "FACTS", None)
    if not isinstance(facts, Facts):
        yield "FACTS must be a bench.frameworks.facts.Facts."
        return
    yield from _wrong_modes("modes", facts.modes)
    for key, name in (("product", facts.product), ("distribution", facts.distribution)):
        if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            yield f"{key} = {shown(name)}: must be a name in quotes, of at most {LONGEST_NAME} printable characters."
    for key, text in facts.variables.items():
        try:
            text.format(threads=1)
        except (AttributeError, LookupError, ValueError):
            yield (
                f"variables[{key!r}] = {shown(text)}: must be a text in quotes, in which {{threads}} stands for the "
                "number of threads."
            )


def _wrong_extension(module: Any) -> Iterator[str]:
    if not hasattr(module, "MODES"):
        yield 'does not define MODES; add MODES = (Mode("fast"),), with a Mode of bench.frameworks.facts for each mode.'
        return
    yield from _wrong_modes("MODES", module.MODES)
    if not callable(getattr(module, "apply", None)):
        yield "does not define apply(mode, function, training, part); see the docstring of bench.frameworks.extension."


def _wrong_modes(name: str, modes: Any) -> Iterator[str]:
    example = f'{name} = (Mode("eager"),)'
    if not isinstance(modes, list | tuple) or not modes:
        yield f"{name} = {shown(modes)}: must be a tuple with one mode at least; a single one takes a comma: {example}."
        return
    for mode in modes:
        if not isinstance(mode, Mode):
            yield f"mode {shown(mode)} must be a bench.frameworks.facts.Mode, such as {example}."
        elif mode.part not in PARTS:
            yield f"mode {mode.name!r}: {unknown('part', str(mode.part), PARTS)}"


def check_specification(registry: Registry, workload: str) -> list[str]:
    """Load the specification of a workload of another source; list what is wrong with it."""
    specification = registry.specification(workload)
    place = f"{registry.home_of(workload).name}/workloads/{folder_of(workload)}/__init__.py"
    return [f"{place}: {problem}" for problem in _wrong_specification(specification)]


def _wrong_specification(specification: Any) -> Iterator[str]:
    trains = getattr(specification, "TRAINING", None)
    functions = {**FUNCTIONS, **((OF_TRAINING if trains else OF_INFERENCE) if isinstance(trains, bool) else {})}
    needed = (*VALUES, *(("OPTIMIZER",) if trains is True else ()), *functions)
    missing = [name for name in needed if not hasattr(specification, name)]
    if missing:
        yield f"does not define {', '.join(missing)}; see the docstring of bench.workloads."
        return
    if not isinstance(trains, bool):
        yield f"TRAINING = {shown(trains)}: must be True or False."
    for name, arguments in functions.items():
        if not _takes(getattr(specification, name), len(arguments.split(", "))):
            yield f"{name} must be a function of these arguments: def {name}({arguments})."
    yield from _wrong_sizes(specification)
    yield from _wrong_precisions(specification)
    if trains is True:
        yield from _wrong_optimizer(specification.OPTIMIZER)


def _takes(function: Any, arguments: int) -> bool:
    """Tell whether something can be called with so many arguments, as far as Python says."""
    try:
        inspect.signature(function).bind(*range(arguments))
    except ValueError:
        return True  # A function of C may have no signature.
    except TypeError:
        return False
    return True


def _wrong_sizes(specification: Any) -> Iterator[str]:
    sizes, example = specification.SIZES, 'SIZES = {"check": {"rows": 8}, "tiny": {"rows": 256}}'
    if not isinstance(sizes, Mapping) or not sizes:
        yield f"SIZES = {shown(sizes)}: must be a dictionary {{size: {{parameter: number}}}}, such as {example}."
        return
    for name, parameters in sizes.items():
        if not isinstance(name, str):
            yield f"SIZES: the name of a size, {shown(name)}, must be a text in quotes, such as {example}."
        elif not isinstance(parameters, Mapping):
            yield f"SIZES[{name!r}] = {shown(parameters)}: must be a dictionary of parameters, such as {example}."


def _wrong_precisions(specification: Any) -> Iterator[str]:
    given = specification.PRECISIONS
    known = isinstance(given, list | tuple | set | frozenset) and all(each in PRECISIONS for each in given)
    if not known or not given:
        yield (
            f'PRECISIONS = {shown(given)}: must be a tuple, such as ("float32", "float64"). '
            f"Known: {', '.join(PRECISIONS)}."
        )


def _wrong_optimizer(optimizer: Any) -> Iterator[str]:
    name = optimizer.get("name") if isinstance(optimizer, Mapping) else None
    if not isinstance(name, str):
        example = 'OPTIMIZER = {"name": "sgd", "learning_rate": 0.05}'
        yield f"OPTIMIZER = {shown(optimizer)}: must be a dictionary with a name, such as {example}."
    elif name not in OPTIMIZERS:
        yield f"OPTIMIZER: {unknown('optimizer', name, OPTIMIZERS)}"
    else:
        missing = [key for key in OPTIMIZERS[name] if key not in optimizer]
        known = ("name", *OPTIMIZERS[name], *(("momentum",) if name == "sgd" else ()))
        yield from (f"OPTIMIZER: {unknown('key', str(key), known)}" for key in optimizer if key not in known)
        if missing:
            yield f"OPTIMIZER: {name!r} lacks {', '.join(missing)}."
