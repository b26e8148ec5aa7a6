"""Provides the libraries that the workers of an environment load before all others.

A C source is compiled by the system's compiler, into a folder that is named by a hash of its content and name.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import stat
import sys
from collections import Counter
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
SOURCE = ".c"
OPTIONS = ("-O2", "-shared", "-fPIC")
COMPILERS = ("cc", "gcc", "clang")
OWN_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"', re.MULTILINE)
#: A longer file is no library, and hashing it takes minutes.
LARGEST_BYTES = 4 << 30


class NotMade(Exception):
    """A library is not there, or could not be compiled; the message is the reason in the table."""


def added(prepared: Prepared, paths: Sequence[str], root: Path) -> Prepared:
    """Return an environment whose workers load the libraries at ``paths``. Raises Impossible, NotMade and OSError."""
    if not paths or prepared.status != OK:
        return prepared
    if sys.platform != "linux":
        raise Impossible(f"preload needs Linux' loader, and this is {sys.platform}; remove preload from its table")
    libraries = [_library(Path(path), root) for path in paths]
    for name, count in Counter(library.name for library, _ in libraries).items():
        if count > 1:
            raise NotMade(f"preload: two libraries are called {name}, as reports name them; rename one")
    variables = dict(prepared.manifest.get("variables", {}))
    # A module system may have named others.
    others = [variables[VARIABLE]] if variables.get(VARIABLE) else []
    variables[VARIABLE] = ":".join([*(str(library) for library, _ in libraries), *others])
    hashes = {Path(path).name: digest for path, (_, digest) in zip(paths, libraries, strict=True)}
    return replace(prepared, manifest={**prepared.manifest, "variables": variables, KEY: hashes})


def states(paths: Sequence[str]) -> list[str]:
    """Return the hash of the file at each path, or why it has none."""
    found = []
    for path in paths:
        try:
            found.append(_digest(Path(path)))
        except NotMade as error:
            found.append(str(error))
    return found


def _library(path: Path, root: Path) -> tuple[Path, str]:
    """Return the library at ``path``, or what its source is compiled to, and the hash of the file at ``path``."""
    digest, library = _digest(path), path.absolute()
    if path.suffix == SOURCE:
        # Two sources of the same content can have two names.
        made_from = hashlib.sha256(os.fsencode(f"{digest} {path.stem}")).hexdigest()
        library = root.absolute() / STATE / "preloads" / made_from[:16] / f"{path.stem}.so"
    if any(separator in str(library) for separator in SEPARATORS):
        raise NotMade(f"preload: {library} has a space or a colon in its path, which {VARIABLE} separates; move it")
    if path.suffix == SOURCE:
        _compile(path.absolute(), library)
    return library, digest


def _digest(path: Path) -> str:
    """Hash a file. A pipe or a device would be read for ever. Raises NotMade."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotMade(f"preload: {path} is not a regular file; name a library, or a C source")
        if path.stat().st_size > LARGEST_BYTES:
            raise NotMade(f"preload: {path} has more than {LARGEST_BYTES >> 30} GiB, as no library has")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NotMade(f"preload: {path} cannot be read: {error.strerror}; the path begins at the study file") from None


def _compile(source: Path, library: Path) -> None:
    """Compile a source, unless it has been. Raises Impossible, NotMade and OSError."""
    if library.exists():
        return
    if OWN_INCLUDE.search(source.read_bytes()):
        why = "whose changes would not be noticed; write all into one file, and the system's headers in <>"
        raise NotMade(f"preload: {source} includes a file in quotes, {why}")
    command = [*_compiler(source), *OPTIONS, "-o"]
    with exclusive(library.parent, _say_nothing):
        if library.exists():
            return  # another process has compiled it meanwhile
        with replacement(library.parent) as folder:
            folder.mkdir()
            command += [str(folder / library.name), str(source)]
            try:
                run_tool(command, label=source.name, announce=_say_nothing, environ=os.environ)
            except ToolFailed as error:
                raise NotMade(f"preload: {source} cannot be compiled: {error.tail}") from None


def _compiler(source: Path) -> list[str]:
    """Return the command that the variable CC holds, or else the first compiler that there is."""
    try:
        named = shlex.split(os.environ.get("CC", ""))
    except ValueError as error:
        raise NotMade(f"preload: {source} cannot be compiled: CC is no command: {error}") from None
    found = named or [path for name in COMPILERS if (path := shutil.which(name))][:1]
    if not found:
        raise Impossible(f"preload: {source} needs a C compiler, and there is none; install one, or name it in CC")
    return found


def _say_nothing(_line: str) -> None:
    """Announce nothing: compiling takes less than a second."""
