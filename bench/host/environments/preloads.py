"""Provides the libraries that the workers of an environment load before all others.

A C source is compiled by the system's compiler, into a folder that is named by a hash of it.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.record import OK

from ..project import STATE
from ..setup.staging import exclusive, replacement
from ..setup.tool import ToolFailed, run_tool
from .outcome import Impossible, Prepared

#: The variable by which Linux' loader is told of the libraries, and what separates them there.
VARIABLE, SEPARATORS = "LD_PRELOAD", " :"
#: What the manifest calls them: {the name of the file in the study: its hash}.
KEY = "preloaded"
OPTIONS = ("-O2", "-shared", "-fPIC")
COMPILERS = ("cc", "gcc", "clang")


class NotMade(Exception):
    """A library is not there, or could not be compiled; the message is the reason in the table."""


def added(prepared: Prepared, paths: Sequence[str], root: Path) -> Prepared:
    """Return an environment whose workers load the libraries at ``paths``. Raises Impossible, NotMade and OSError."""
    if not paths or prepared.status != OK:
        return prepared
    if sys.platform != "linux":
        raise Impossible(f"preload needs Linux' loader, and this is {sys.platform}; remove preload from its table")
    libraries = [_library(Path(path), root) for path in paths]
    variables = dict(prepared.manifest.get("variables", {}))
    # A module system may have named others.
    others = [variables[VARIABLE]] if variables.get(VARIABLE) else []
    variables[VARIABLE] = ":".join([*(str(library) for library, _ in libraries), *others])
    hashes = {Path(path).name: digest for path, (_, digest) in zip(paths, libraries, strict=True)}
    return replace(prepared, manifest={**prepared.manifest, "variables": variables, KEY: hashes})


def _library(path: Path, root: Path) -> tuple[Path, str]:
    """Return the library at ``path``, or what its source is compiled to, and the hash of the file at ``path``."""
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise NotMade(f"preload: {path} cannot be read: {error.strerror}; the path begins at the study file") from None
    library = path.absolute()
    if path.suffix == ".c":
        library = root.absolute() / STATE / "preloads" / digest[:16] / f"{path.stem}.so"
    if any(separator in str(library) for separator in SEPARATORS):
        raise NotMade(f"preload: {library} has a space or a colon in its path, which {VARIABLE} separates; move it")
    if path.suffix == ".c" and not library.exists():
        _compile(path, library)
    return library, digest


def _compile(source: Path, library: Path) -> None:
    named = shlex.split(os.environ.get("CC", "")) or [found for name in COMPILERS if (found := shutil.which(name))][:1]
    if not named:
        raise Impossible(f"preload: {source} needs a C compiler, and there is none; install one, or name it in CC")
    with exclusive(library.parent, _say_nothing), replacement(library.parent) as folder:
        folder.mkdir()
        command = [*named, *OPTIONS, "-o", str(folder / library.name), str(source)]
        try:
            run_tool(command, label=source.name, announce=_say_nothing, environ=os.environ)
        except ToolFailed as error:
            raise NotMade(f"preload: {source} cannot be compiled: {error.tail}") from None


def _say_nothing(_line: str) -> None:
    """Announce nothing: compiling takes less than a second."""
