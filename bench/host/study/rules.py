"""Checks a study file beyond the types of its keys: names that must exist, keys that go together."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from bench.frameworks.facts import Facts
from bench.registry import Registry

from . import claim_rules, shared_lock, sources
from .baseline import CHOSEN
from .draft import Draft, Values, sizes_of
from .schema import COORDINATES
from .session_names import taken
from .suggestion import unknown


def place_of(section: str, name: str) -> str:
    """Name a table as its header does, quoted where TOML requires it."""
    return f"{section}.{name}" if re.fullmatch(r"[A-Za-z0-9_.-]+", name) else f"{section}.{name!r}"


def problems(draft: Draft) -> Iterator[tuple[str, str]]:
    """Give the place and the description of everything in the draft that breaks a rule."""
    for place, values in _tables(draft):
        for key, listed in values.items():
            if isinstance(listed, list | tuple):
                for value in sources.repeated(listed):
                    yield place, f"{key}: {value!r} is listed twice; remove one."
    for problem in settings_problems(draft):
        yield "study", problem
    for name, values in draft.environments.items():
        if (clash := taken(name)) is not None:
            yield place_of("environments", values.get("family", name)), clash
        for problem in (
            *environment_problems(shared_lock.filled(values, draft.environments), draft.registry),
            *shared_lock.problems(values, draft.environments),
        ):
            yield place_of("environments", values.get("family", name)), problem
    for name, values in draft.workloads.items():
        for problem in workload_problems(name, values, draft.registry):
            yield place_of("workloads", name), problem
    for name, values in draft.profiles.items():
        for problem in profile_problems(values, draft):
            yield place_of("profiles", name), problem
    for index, values in enumerate(draft.exclusions):
        for problem in exclusion_problems(values, draft):
            yield f"exclusions[{index}]", problem
    known = {name: draft.known(name) for name in ("workload", "size", "precision", "device")}
    for name, values in draft.claims.items():
        for problem in claim_rules.problems(values, draft.environments, known):
            yield place_of("claims", name), problem


def _tables(draft: Draft) -> Iterator[tuple[str, Values]]:
    yield "study", draft.settings
    for section in ("environments", "workloads", "profiles", "claims"):
        for name, values in getattr(draft, section).items():
            yield place_of(section, values.get("family", name)), values


def profile_problems(values: Values, draft: Draft) -> Iterator[str]:
    sizes = draft.known("size")
    for size in values.get("sizes", ()):
        if sizes and size not in sizes:
            yield f"sizes: {unknown('size', size, sizes)}"
    for workload, own in values.get("sizes_of", {}).items():
        if workload not in draft.workloads:
            yield f"sizes_of: {unknown('workload', workload, draft.workloads)}"
        elif known := sizes_of(draft.registry, workload):
            for size in own:
                if size not in known:
                    yield f"sizes_of: {unknown(f'{workload} size', size, known)}"
    rounds, most = values.get("rounds"), values.get("most_rounds")
    if rounds is not None and most is not None and most < rounds:
        yield f"most_rounds: {most} is less than rounds = {rounds}; leave it out, or give at least {rounds}."


def settings_problems(draft: Draft) -> Iterator[str]:
    families = {values.get("family") for values in draft.environments.values()}
    for name in draft.settings.get("default", ()):
        if draft.environments and name not in {*draft.environments, *families}:
            yield f"default: {unknown('environment', name, draft.environments)}"
    profile = draft.settings.get("profile")
    if draft.profiles and profile is not None and profile not in draft.profiles:
        yield f"profile: {unknown('profile', profile, draft.profiles)}"
    baseline = draft.settings.get("baseline")
    if baseline is None or not draft.environments:
        return
    environment, separator, mode = baseline.partition(":")
    if baseline in CHOSEN:
        return
    if not separator:
        yield f"baseline: {baseline!r} names no column; give environment:mode, for example 'torch1:eager'."
    elif environment not in draft.environments:
        yield f"baseline: {unknown('environment', environment, draft.environments)}"
    else:
        modes = draft.environments[environment].get("modes")
        if modes is not None and mode not in modes:
            yield f"baseline: {unknown(f'{environment} mode', mode, modes)}"


def environment_problems(values: Values, registry: Registry) -> Iterator[str]:
    framework = values.get("framework")
    if framework is not None:
        facts = registry.facts(framework)
        for mode in values.get("modes", ()):
            if mode not in facts.mode_names:
                yield f"modes: {unknown(f'{framework} mode', mode, facts.mode_names)}"
            elif "family" not in values:
                yield from version_problems(facts, mode, values.get("requirements", ()))
    for text in values.get("requirements", ()):
        try:
            if Requirement(text).url is not None and not values.get("allow_source", True):
                yield f"requirements: {text!r} is an address; require it by version, or set allow_source = true."
        except InvalidRequirement as error:
            reason = str(error).partition("\n")[0]
            yield f"requirements: {text!r} is not in pip's notation ({reason}); write for example 'torch==2.15.0'."
    yield from _provider_problems(values)


#: Keys of containers only.
CONTAINER_KEYS = ("base", "system_packages")
#: The variable that names the libraries of ``preload``.
PRELOAD = "LD_PRELOAD"
#: Keys of environments whose packages are built here.
SOURCE_KEYS = ("allow_source", "build_requirements")


def _provider_problems(values: Values) -> Iterator[str]:
    provider = values.get("provider")
    if provider == "container" and values.get("interpreter"):
        yield "provider 'container' uses the Python of its image; remove interpreter, or name another image with base."
    if provider == "container" and values.get("allow_source"):
        yield "provider 'container' installs wheels only; remove allow_source, or use provider 'venv'."
    if provider == "container" and values.get("preload"):
        yield "provider 'container' loads what its image has; remove preload, or use provider 'venv'."
    if values.get("preload") and PRELOAD in values.get("variables", {}):
        yield f"variables: preload sets {PRELOAD}; remove one of the two."
    if values.get("build_requirements") and not values.get("allow_source", True):
        yield "build_requirements: only wheels are installed; set allow_source = true, or remove build_requirements."
    elif provider is not None and provider != "container":
        for key in CONTAINER_KEYS:
            if values.get(key):
                yield f"provider {provider!r} has no image; remove {key}, or use provider 'container'."
    if provider == "existing":
        if values.get("interpreter", "") is None:
            yield "provider 'existing' needs interpreter; give the path or the command of one, for example \"python3\"."
        for key in ("python", "requirements", "versions", "lock", *SOURCE_KEYS):
            if values.get(key):
                yield f"provider 'existing' installs nothing; remove {key}, or use provider 'venv'."
    elif provider is not None and not values.get("lock"):
        for key, example in (("python", '"3.11"'), ("requirements", '["torch==2.15.0", "numpy"]')):
            if key in values and not values[key]:
                yield f"provider {provider!r} needs {key}; give for example {key} = {example}."


def version_problems(facts: Facts, mode: str, requirements: Iterable[str]) -> Iterator[str]:
    first = facts.mode(mode).first_version
    for text in requirements if first else ():
        if _forbids(text, facts.distribution, Version(first)):
            older = " or ".join(repr(other.name) for other in facts.modes if not other.first_version)
            yield f"mode {mode!r} needs {facts.product} {first}; this environment pins {text}. Use {older}."


def _forbids(text: str, distribution: str, first: Version) -> bool:
    """Tell whether a requirement allows only versions of ``distribution`` that are older than ``first``.

    A requirement with a marker binds on some interpreters only and is left to the environment itself.
    """
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return False
    if canonicalize_name(requirement.name) != canonicalize_name(distribution) or requirement.marker is not None:
        return False
    for specifier in requirement.specifier:
        try:
            version = Version(specifier.version.removesuffix(".*"))
        except ValueError:
            continue
        if specifier.operator == "<" and version <= first:
            return True
        if specifier.operator == "~=" and version.major < first.major and len(version.release) > 1:
            return True
        if specifier.operator in ("==", "===", "<=") and version < first:
            return True
    return False


def workload_problems(name: str, values: Values, registry: Registry) -> Iterator[str]:
    if name not in registry.workloads:
        yield sources.misnamed(registry, "workloads").get(name) or unknown("workload", name, registry.workloads)
        return
    specification = registry.specification(name)
    for size in values.get("sizes") or ():
        if size not in specification.SIZES:
            yield f"sizes: {unknown(f'{name} size', size, specification.SIZES)}"
    for precision in values.get("precisions", ()):
        if precision not in specification.PRECISIONS:
            yield f"precisions: {unknown(f'{name} precision', precision, specification.PRECISIONS)}"
    if values.get("data") is not None and not hasattr(specification, "source"):
        yield f"{name} draws its input from the seed and reads no data; remove data."


def exclusion_problems(values: Values, draft: Draft) -> Iterator[str]:
    given = {coordinate: values[coordinate] for coordinate in COORDINATES if values.get(coordinate) is not None}
    if not given and values.get("training") is None and values.keys() >= set(COORDINATES):
        yield f"names no cells; give at least one of {', '.join(COORDINATES)}."
    for coordinate, pattern in given.items():
        known = draft.known(coordinate)
        if known and not any(fnmatch.fnmatchcase(name, pattern.removeprefix("!")) for name in known):
            yield f"{coordinate}: {unknown(coordinate, pattern, known)}"
