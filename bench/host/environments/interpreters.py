"""Finds Python interpreters, and runs each one before it is used."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from ..setup.installer import installer_environ
from ..setup.tool import ToolFailed, run_tool

#: Any interpreter runs it, by its path.
FACTS_PROGRAM = Path(__file__).with_name("interpreter_facts.py")

# On a network file system the first start takes seconds; a shim that hangs must not delay the study for long.
TRIAL_S = 30

NAME = re.compile(r"python(\d+(\.\d+)?)?")


@dataclass(frozen=True)
class Interpreter:
    """An interpreter that was run, and what it printed about itself."""

    path: str
    version: str
    implementation: str
    build: str
    compiler: str
    machine: str
    #: Whether Python.h exists, which compilers of generated code need.
    headers: bool
    #: The format of its bytecode: the magic number, and the tag in file names.
    bytecode: str
    cache_tag: str


class NoInterpreter(Exception):
    """There is no interpreter of the wanted version; the message lists what was tried."""


class Rejected(Exception):
    """An interpreter that was tried cannot be used; the message says why."""


def specifier(wanted: str) -> SpecifierSet:
    """Read a version: ``3.11`` is any 3.11, ``3.11.7`` exactly that, ``>=3.7,<3.9`` a range. Raises NoInterpreter."""
    try:
        if re.fullmatch(r"\d+(\.\d+)?", wanted):
            return SpecifierSet(f"=={wanted}.*")
        return SpecifierSet(f"=={wanted}" if wanted[:1].isdigit() else wanted)
    except InvalidSpecifier:
        raise NoInterpreter(f"python {wanted!r} is not a version; write for example '3.11' or '>=3.8,<3.12'") from None


def find(
    wanted: str, *, uv: str | None, root: Path, announce: Callable[[str], None], path: str | None = None
) -> Interpreter:
    """Return an interpreter of version ``wanted``: ``path`` if given, else from PATH, pyenv or uv, else downloaded.

    The first with Python.h is taken, since compiled modes need it; where none has it, the first. Raises NoInterpreter.
    """
    if path is not None:
        return _explicit(path, wanted)
    tried: list[str] = []
    second_choice: Interpreter | None = None
    for candidate, origin in _candidates(wanted, uv, root):
        try:
            found = try_interpreter(candidate)
            _check_version(found, wanted)
        except Rejected as reason:
            tried.append(f"{candidate} ({origin}): {reason}")
            continue
        if found.headers:
            return found
        second_choice = second_choice or found
    if second_choice is not None:
        return second_choice
    try:
        return _download(wanted, uv, root, announce)
    except Rejected as reason:
        tried.append(f"download: {reason}")
    listed = "".join(f"\n  {line}" for line in tried)
    raise NoInterpreter(
        f"no Python {wanted} was found; install one, or name it with --interpreter NAME=PATH. Tried:{listed}"
    ) from None


def _explicit(path: str, wanted: str) -> Interpreter:
    located = shutil.which(os.path.expanduser(path))
    if located is None:
        raise NoInterpreter(f"the interpreter {path!r} does not exist or cannot be executed")
    try:
        found = try_interpreter(located)
        _check_version(found, wanted)
    except Rejected as reason:
        raise NoInterpreter(f"the interpreter {path!r} cannot be used: {reason}") from None
    return found


def _check_version(found: Interpreter, wanted: str) -> None:
    if not specifier(wanted).contains(found.version, prereleases=True):
        raise Rejected(f"it is Python {found.version}, not {wanted}")


@functools.cache
def try_interpreter(path: str) -> Interpreter:
    """Run the interpreter and return its description. Raises Rejected."""
    answer = ask(path)
    problems = {
        "it is {implementation}, and frameworks publish for CPython": answer["implementation"] != "CPython",
        "it is a {bits}-bit build": answer["bits"] != 64,
        "it is a debug build": answer["debug"],
        "it is a free-threaded build": answer["free_threaded"],
        "it has no venv module": not answer["venv"],
    }
    for problem, holds in problems.items():
        if holds:
            raise Rejected(problem.format(**answer))
    chosen = answer["base"] if os.access(answer["base"], os.X_OK) else path
    kept = {name: answer[name] for name in Interpreter.__dataclass_fields__ if name != "path"}
    return Interpreter(path=chosen, **kept)


def ask(path: str, *arguments: str, isolated: bool = True, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what the interpreter at ``path`` says of itself, by ``interpreter_facts``. Raises Rejected."""
    command = [path, *(["-I"] if isolated else []), str(FACTS_PROGRAM), *arguments]
    try:
        trial = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRIAL_S, check=False, env=environ
        )
    except OSError as error:
        raise Rejected(f"it cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Rejected(f"it did not answer within {TRIAL_S} s") from None
    if trial.returncode != 0:
        last = (trial.stderr.decode(errors="replace").strip().splitlines() or ["it printed nothing"])[-1]
        raise Rejected(f"it ended with status {trial.returncode}: {last}")
    try:
        answer = json.loads(trial.stdout)
        Version(answer["version"])
    except (ValueError, KeyError, TypeError, InvalidVersion):
        raise Rejected("its answer is not that of a Python interpreter") from None
    return dict(answer)


def _candidates(wanted: str, uv: str | None, root: Path) -> Iterator[tuple[str, str]]:
    """Yield (path, origin) of each interpreter once: those on PATH, then pyenv's, then uv's."""
    seen: set[str] = set()
    for source in (_on_path(wanted), _in_pyenv(wanted), _kept_by_uv(wanted, uv, root)):
        for path, origin in source:
            if path not in seen:
                seen.add(path)
                yield path, origin


def _on_path(wanted: str) -> Iterator[tuple[str, str]]:
    for folder in os.get_exec_path():
        try:
            names = [name for name in os.listdir(folder) if _plausible(name, wanted)]
        except OSError:
            continue
        for name in sorted(names, key=lambda name: (name != f"python{wanted}", len(name), name)):
            yield os.path.join(folder, name), "PATH"


def _plausible(name: str, wanted: str) -> bool:
    """Tell whether a file name may be the wanted version: ``python3.9`` cannot be 3.11."""
    match = NAME.fullmatch(name)
    if match is None:
        return False
    stated = match[1]
    if stated is None or "." not in stated:
        return True
    if wanted[:1].isdigit():
        return f"{wanted}.".startswith(f"{stated}.")
    return any(specifier(wanted).contains(f"{stated}.{patch}") for patch in (0, 99))


def _in_pyenv(wanted: str) -> Iterator[tuple[str, str]]:
    # If pyenv built this interpreter, the others lie beside it, even where no variable names the folder.
    # That of a distribution, below /usr, has no folder two levels up.
    beside = map(str, Path(sys.base_prefix).parents[1:2])
    fitting: dict[Path, Version] = {}
    for root in filter(None, (os.environ.get("PYENV_ROOT"), os.path.expanduser("~/.pyenv"), *beside)):
        for folder in Path(root, "versions").glob("*"):
            try:
                version = Version(folder.name)
            except InvalidVersion:
                continue
            if specifier(wanted).contains(version, prereleases=True):
                fitting[folder / "bin" / "python"] = version
    # A range is given to test the oldest minor version; of one minor version the newest is taken.
    for path in sorted(fitting, key=lambda path: (fitting[path].release[:2], [-n for n in fitting[path].release[2:]])):
        yield str(path), "pyenv"


def _kept_by_uv(wanted: str, uv: str | None, root: Path) -> Iterator[tuple[str, str]]:
    if uv is None:
        return
    command = [uv, "python", "find", "--managed-python", "--no-python-downloads", "--no-project", wanted]
    found = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=root)
    if found.returncode == 0 and found.stdout.strip():
        yield found.stdout.strip(), "uv"


def _download(wanted: str, uv: str | None, root: Path, announce: Callable[[str], None]) -> Interpreter:
    if uv is None:
        raise Rejected("uv, which downloads interpreters, is missing")
    announce(f"no Python {wanted} on this machine; downloading one with uv")
    environ = {"UV_HTTP_TIMEOUT": "30", **installer_environ(root)}
    try:
        command = [uv, "python", "install", "--quiet", "--no-bin", wanted]
        run_tool(command, label=f"downloading Python {wanted}", announce=announce, environ=environ)
    except ToolFailed as error:
        raise Rejected(error.summary) from None
    for path, _origin in _kept_by_uv(wanted, uv, root):
        found = try_interpreter(path)
        _check_version(found, wanted)
        return found
    raise Rejected("uv installed one that cannot be found")
