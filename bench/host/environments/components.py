"""Lists the components that differ between two environments, and makes environments in which one is exchanged."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.frameworks.facts import Facts

from ..study.environment import Environment

#: {component: the packages that it consists of}; the first pattern that a package matches counts.
COMPONENTS = {
    "NumPy": re.compile(r"numpy"),
    "BLAS and oneDNN": re.compile(r"mkl.*|intel-openmp|onednn.*|.*openblas.*|tbb|nvpl.*"),
    "CUDA": re.compile(r"nvidia-.*|cuda-.*|.*-cu1[0-9].*|.*cuda1[0-9].*"),
    "compiler": re.compile(r"triton|pytorch-triton|libclang|llvmlite|jaxlib"),
}
PYTHON, OTHER = "Python", "other packages"


@dataclass(frozen=True)
class Component:
    """Something beside the framework that differs between two environments."""

    name: str
    #: {package: its version}, before and after; of Python, ``python``.
    before: Mapping[str, str]
    after: Mapping[str, str]

    def __str__(self) -> str:
        changes = [
            f"{name} {self.before.get(name, 'none')} → {self.after.get(name, 'none')}"
            for name in {**self.before, **self.after}
        ]
        more = f" and {len(changes) - 2} more" if len(changes) > 2 else ""
        return f"{self.name} ({', '.join(changes[:2])}{more})"


def components(before: Mapping[str, Any], after: Mapping[str, Any], facts: Facts) -> list[Component]:
    """List what differs between two environments' manifests, without the framework itself."""
    own = {canonicalize_name(name) for name in (facts.distribution, facts.package) if name}
    mine, theirs = _packages(before), _packages(after)
    groups: dict[str, list[str]] = {}
    for name in sorted({*mine, *theirs} - own):
        if mine.get(name) != theirs.get(name):
            group = next((group for group, pattern in COMPONENTS.items() if pattern.fullmatch(name)), OTHER)
            groups.setdefault(group, []).append(name)
    found = []
    pythons = [str((one.get("interpreter") or {}).get("version", "")) for one in (before, after)]
    if pythons[0] != pythons[1]:
        found.append(Component(PYTHON, {"python": pythons[0]}, {"python": pythons[1]}))
    for group in (*COMPONENTS, OTHER):
        names = groups.get(group, [])
        if names:
            found.append(
                Component(
                    group,
                    {name: mine[name] for name in names if name in mine},
                    {name: theirs[name] for name in names if name in theirs},
                )
            )
    return found


def exchanged(
    environment: Environment, before: Environment, component: Component, packages: Mapping[str, str]
) -> Environment | str:
    """Return the environment with the component of before; a text says why there is none.

    ``packages`` are those of the environment with their versions: all others of them stay as they are, so that nothing
    else is exchanged with it.
    """
    name = (
        f"{environment.name}-with-{re.sub(r'[^a-z0-9]+', '-', component.name.lower())}-of-{before.version or 'before'}"
    )
    if component.name == PYTHON:
        if environment.python == before.python:
            return "both tables ask for the same Python; the machine has another build of it"
        pinned = _pinned(environment, packages, ())
        changes = {"python": before.python, "requirements": pinned}
        return environment.model_copy(update={"name": name, "lock": None, **changes})
    if not component.before:
        return "the release before has none of it"
    taken = tuple(f"{package}=={version}" for package, version in component.before.items())
    kept = _pinned(environment, packages, {*component.before, *component.after})
    return environment.model_copy(update={"name": name, "lock": None, "requirements": (*kept, *taken)})


def _pinned(environment: Environment, packages: Mapping[str, str], without: Collection[str]) -> tuple[str, ...]:
    """Return the requirements of an environment, and the versions of all else that it has, ``without`` some."""
    loose = {canonicalize_name(Requirement(text).name): text for text in environment.requirements}
    installed = {canonicalize_name(name): f"{name}=={version}" for name, version in packages.items()}
    exact = {name: text for name, text in loose.items() if "==" in text}
    return tuple(text for name, text in {**loose, **installed, **exact}.items() if name not in without)


def is_exchanged(manifest: Mapping[str, Any], component: Component) -> bool:
    """Tell whether an environment has the component of before."""
    if component.name == PYTHON:
        return str((manifest.get("interpreter") or {}).get("version")) == component.before["python"]
    packages = _packages(manifest)
    return all(packages.get(name) == version for name, version in component.before.items())


def _packages(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return {package: its version} of an environment, by the names that indexes compare."""
    return {canonicalize_name(name): version for name, version in (manifest.get("packages") or {}).items()}
