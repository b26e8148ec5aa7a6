"""Finds frameworks, modes, workloads and outputs, in this package and in other people's folders.

A source is a folder with any of these; ours is the package ``bench``, a study file names others:

  frameworks/<framework>/facts.py, adapter.py    a framework (see bench.frameworks)
  frameworks/<framework>/modes.py                further modes of a framework of another source, see
                                                 bench.frameworks.extension
  workloads/<workload>/__init__.py               a workload (see bench.workloads)
  workloads/<workload>/<framework>.py            an implementation, of any source's workload for any source's framework
  outputs/<output>.py                            an output (see bench.host.reporting)

Files are the registration. Both rings use this module: it imports the standard library only, and neither a framework
nor a specification before it is needed.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import sys
import types
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Optional, Tuple

from .frameworks.facts import Facts
from .program import Unsupported

#: The package below which the modules of other people's sources are imported; no path of theirs is on sys.path.
PACKAGE = "benchmatrix_sources"
FOLDERS = ("frameworks", "workloads", "outputs")


def folder_of(workload: str) -> str:
    """Return the folder of a workload: ``mlp_train`` for ``mlp-train``, as a study file names it."""
    return workload.replace("-", "_")


@dataclass(frozen=True)
class Source:
    """A folder with frameworks, workloads or outputs."""

    #: What messages call it.
    name: str
    folder: str

    @property
    def package(self) -> str:
        """Name the package of its modules. Two folders never share one, whatever they are called."""
        if self == BENCH:
            return "bench"
        digest = hashlib.sha256(self.folder.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        return "{}.{}_{}".format(PACKAGE, re.sub(r"\W", "_", self.name), digest)

    def path(self, *parts: str) -> str:
        return os.path.join(self.folder, *parts)

    def has(self, *parts: str) -> bool:
        return os.path.isfile(self.path(*parts))

    def entries(self, kind: str) -> List[str]:
        """List what lies in one of its folders, sorted."""
        try:
            return sorted(name for name in os.listdir(self.path(kind)) if not name.startswith(("_", ".")))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def load(self, *parts: str) -> Any:
        """Import the module at ``parts``."""
        if self != BENCH:
            _package(PACKAGE, [])
            _package(self.package, [self.folder])
        return importlib.import_module(".".join((self.package, *parts)))


def _package(name: str, path: List[str]) -> None:
    if name not in sys.modules:
        module = types.ModuleType(name)
        module.__path__ = path
        sys.modules[name] = module


BENCH = Source("bench", os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True)
class Registry:
    """What there is in ``sources``; ours is the first."""

    sources: Tuple[Source, ...] = (BENCH,)

    @classmethod
    def of(cls, others: Dict[str, str]) -> "Registry":
        """Make the registry of our own package and of {name: folder}."""
        return cls((BENCH, *(Source(name, folder) for name, folder in others.items())))

    @property
    def others(self) -> Dict[str, str]:
        """Give {name: folder} of the sources that are not ours, as ``of`` takes it."""
        return {source.name: source.folder for source in self.sources[1:]}

    @property
    def frameworks(self) -> Tuple[str, ...]:
        """List the frameworks by their names in a study file."""
        return tuple(name for source in self.sources for name in _defined(source, "frameworks", "facts.py"))

    def facts(self, framework: str) -> Facts:
        """Return what is known about a framework, with the modes that other sources add to it."""
        facts: Facts = self._home(framework).load("frameworks", framework, "facts").FACTS
        added = [mode for source in self._extending(framework) for mode in _modes_of(source, framework).MODES]
        return replace(facts, modes=(*facts.modes, *added)) if added else facts

    @property
    def mode_names(self) -> Tuple[str, ...]:
        """List the modes of all frameworks, each name once."""
        return tuple(dict.fromkeys(mode for name in self.frameworks for mode in self.facts(name).mode_names))

    def adapter(self, framework: str) -> Any:
        """Import the adapter module of a framework, and with it the framework; raises ImportError where that fails."""
        return self._home(framework).load("frameworks", framework, "adapter")

    def extension(self, framework: str, mode: str) -> Optional[Any]:
        """Return the module that adds a mode to a framework of another source; None for the framework's own modes."""
        for source in self._extending(framework):
            module = _modes_of(source, framework)
            if any(added.name == mode for added in module.MODES):
                return module
        return None

    @property
    def workloads(self) -> Tuple[str, ...]:
        """List the workloads by their names in a study file."""
        folders = [name for source in self.sources for name in _defined(source, "workloads", "__init__.py")]
        return tuple(name.replace("_", "-") for name in folders)

    def specification(self, workload: str) -> Any:
        """Import a workload's specification; raises ValueError for an unknown name."""
        return self.home_of(workload).load("workloads", folder_of(workload))

    def has_implementation(self, workload: str, framework: str) -> bool:
        return self.implementing(workload, framework) is not None

    def implementation(self, workload: str, framework: str) -> Any:
        """Import ``build`` of a workload for a framework; raises Unsupported where the file does not exist."""
        source = self.implementing(workload, framework)
        if source is None:
            raise Unsupported(f"workload {workload} has no {framework} implementation")
        module = source.load("workloads", folder_of(workload), framework)
        if not hasattr(module, "build"):
            place = self.file_of(workload, framework)
            raise AttributeError(f"{place} does not define build(size, parameters, batch, transform)")
        return module.build

    def file_of(self, workload: str, framework: str) -> str:
        """Say which file implements a workload for a framework: ``mine/workloads/toy/numpy.py``."""
        source = self.implementing(workload, framework)
        name = "" if source is None else source.name
        return "/".join((name, "workloads", folder_of(workload), framework + ".py"))

    def home_of(self, workload: str) -> Source:
        """Return the source with a workload's specification; raises ValueError for an unknown name."""
        folder = folder_of(workload)
        for source in self.sources:
            if folder.isidentifier() and "_" not in workload and source.has("workloads", folder, "__init__.py"):
                return source
        raise ValueError("unknown workload {!r}; known: {}".format(workload, ", ".join(self.workloads)))

    def implementing(self, workload: str, framework: str) -> Optional[Source]:
        """Return the source with a workload's implementation for a framework."""
        file = ("workloads", folder_of(workload), framework + ".py")
        return next((source for source in self.sources if source.has(*file)), None)

    @property
    def output_files(self) -> List[str]:
        """List the files of the outputs in the sources that are not ours."""
        return [
            s.path("outputs", name) for s in self.sources[1:] for name in s.entries("outputs") if name[-3:] == ".py"
        ]

    def defining(self, framework: str) -> List[Source]:
        """List the sources that define a framework, its own first, then those that add modes to it."""
        return [self._home(framework), *self._extending(framework)]

    def is_extended(self, framework: str) -> bool:
        """Tell whether a source that is not ours defines the framework or adds modes to it."""
        return self.defining(framework) != [BENCH]

    def place_of(self, error: BaseException) -> str:
        """Say where in a source an error arose, innermost: ``mine/workloads/toy/numpy.py:12``; empty if in none."""
        found = ""
        if isinstance(error, SyntaxError) and error.filename:
            found = self._shown(error.filename, error.lineno or 1)
        trace = None if found else error.__traceback__
        while trace is not None:
            found = self._shown(trace.tb_frame.f_code.co_filename, trace.tb_lineno) or found
            trace = trace.tb_next
        return found

    def _shown(self, file: str, line: int) -> str:
        for source in self.sources:
            parts = os.path.relpath(file, source.folder).split(os.sep)
            if parts[0] in FOLDERS:
                return "{}:{}".format("/".join((source.name, *parts)), line)
        return ""

    def _home(self, framework: str) -> Source:
        for source in self.sources:
            if framework.isidentifier() and source.has("frameworks", framework, "facts.py"):
                return source
        raise ValueError("unknown framework {!r}; known: {}".format(framework, ", ".join(self.frameworks)))

    def _extending(self, framework: str) -> List[Source]:
        there = [source for source in self.sources if source.has("frameworks", framework, "modes.py")]
        return [source for source in there if not source.has("frameworks", framework, "facts.py")]


def _defined(source: Source, folder: str, file: str) -> List[str]:
    """List what a source defines; Python cannot import a folder of another name."""
    return [name for name in source.entries(folder) if name.isidentifier() and source.has(folder, name, file)]


def _modes_of(source: Source, framework: str) -> Any:
    return source.load("frameworks", framework, "modes")


#: What this package holds itself.
BUILT_IN = Registry()
