"""Defines what the rest of the program must know about a framework: ``Facts``, with a ``Mode`` for each of its modes.

Every framework's folder has a module ``facts`` with ``FACTS = Facts(…)``. Host and worker read it before, or without,
importing the framework, so it imports the standard library only and runs on Python 3.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Tuple


@dataclass(frozen=True)
class Mode:
    """One way in which a framework executes a program."""

    name: str
    #: Rough seconds of the first call of a small model, with a warm compilation cache and what it imports imported, and
    #: how many more it takes while the cache has nothing of it; a preview estimates with them.
    first_call_s: float = 0.3
    compile_s: float = 0.0
    #: The first version of the framework's distribution that has the mode; empty where all versions have it.
    first_version: str = ""
    #: Whether the mode leaves compiled code on disk; the others compile in every process, where they compile at all.
    caches_on_disk: bool = False
    #: Whether that code may have the weights in it, so that other weights are compiled anew.
    freezes: bool = False
    #: The part of a training program that it transforms: "module" (the forward pass with the loss) or the whole "step".
    part: str = "module"
    #: The precision of its products where that is not the cell's; outputs are compared at this precision.
    computes_in: str = ""
    #: Modules that its first call imports, and functions (``module:function``) whose results it computes and keeps,
    #: which are the same in every process. The process that workers are forked from imports, calls and times them.
    preloads: Tuple[str, ...] = ()
    #: Those that the first call of a training program imports beside them.
    training_preloads: Tuple[str, ...] = ()
    #: Between how many devices it divides a training step.
    devices: int = 1
    #: Whether it divides batches among devices, joins them or gives them a layout, once and before they are timed, so
    #: that no input pipeline can feed it.
    places_batches: bool = False
    #: Names what its first use in an installation compiles and all programs share, such as headers; empty for nothing.
    #: The adapter's ``warm`` does that once for all modes with the same name, before any first call is measured.
    precompiles: str = ""
    #: Whether ``validate`` compares cells of this mode: it starts quickly and its steps are short.
    validated: bool = False


@dataclass(frozen=True)
class Release:
    """What the versions of a framework need to be installed, from one version to that of the next ``Release``."""

    since: str
    #: The oldest and the newest Python with which they install and all of their modes run.
    pythons: Tuple[str, str]
    #: What is installed beside the framework, in pip's notation; ``{version}`` stands for its version.
    requirements: Tuple[str, ...] = ()
    #: Whether they are published as source only; they are built where the study has ``allow_source = true``.
    source: bool = False


@dataclass(frozen=True)
class Facts:
    """One framework; its name in a study file is the name of its folder."""

    #: The name for people: ``PyTorch``.
    product: str
    #: The name of its package in a package index, and the module that a program imports.
    distribution: str
    import_name: str
    #: The first is the plain one, in which the adapter's ``transform`` returns the function as it is.
    modes: Tuple[Mode, ...]
    #: Environment variables of a worker; ``{threads}`` stands for the number of threads.
    variables: Dict[str, str] = field(default_factory=dict)
    #: Further ones in a trial, where compiling may take less time by what changes no instruction of the result.
    trial_variables: Dict[str, str] = field(default_factory=dict)
    #: {environment variable: folder}: the variables that lead its compilers to folders of the compilation cache.
    cache_variables: Dict[str, str] = field(default_factory=dict)
    #: Whether it keeps compiled code in the temporary folder, too, which then lies in the compilation cache.
    caches_temporary_files: bool = False
    #: Environment variables with these prefixes change how it computes; a worker reports those that are set.
    variable_prefixes: Tuple[str, ...] = ()
    #: Whether NumPy computes what is measured. Elsewhere NumPy only draws the input and must not ask for huge pages.
    computes_with_numpy: bool = False
    #: Whether the adapter sets the number of threads: workers are then forked from a process that has more of them.
    sets_threads: bool = False
    #: Why its workers cannot be forked from a process that has imported it, as a sentence; empty where they can.
    not_forked: str = ""
    #: Other modules that its implementations may import.
    companions: Tuple[str, ...] = ()
    #: What is known about installing its versions, oldest first; for the ``versions`` of a study file.
    releases: Tuple[Release, ...] = ()
    #: The package that such versions are installed from; the distribution where empty.
    package: str = ""
    #: GB that an environment takes on the disk with the distribution's build for processors alone, where its usual
    #: wheels bring CUDA and such builds have an index of their own; 0 elsewhere.
    cpu_environment_gb: float = 0.0

    @property
    def mode_names(self) -> Tuple[str, ...]:
        return tuple(mode.name for mode in self.modes)

    def preloads(self, mode: str, *, training: bool) -> Tuple[str, ...]:
        """List the modules that the first call of a program imports."""
        found = self.mode(mode)
        return found.preloads + (found.training_preloads if training else ())

    def mode(self, name: str) -> Mode:
        """Return a mode by its name; raises KeyError where the framework has none of this name."""
        return {mode.name: mode for mode in self.modes}[name]
