"""Makes the host's own environments with an interpreter and the standard library alone.

This package is imported before any library is installed, so it uses the standard library alone. Of the rest of the host
it imports ``project``, which does so too.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from .. import project
from .installer import (
    Installation,
    NoInstaller,
    find_uv,
    install_with_fetched_uv,
    install_with_pip,
    install_with_uv,
    repoint,
)
from .staging import exclusive, replacement
from .tool import ToolFailed

Announce = Callable[[str], None]

IMPORTED = {
    "host": "babel.messages.pofile, matplotlib.backends.backend_agg, matplotlib.backends.backend_pdf, "
    "matplotlib.backends.backend_svg, matplotlib.figure, nox._cli, numpy, pydantic, pynvml, rich.console, "
    "rich.progress, scipy.stats, tabulate",
    "dev": "babel.messages.pofile, hypothesis, matplotlib.figure, mypy, numpy, pydantic, pytest, rich.console, "
    "rich.progress, ruff, scipy.stats, tabulate",
}

NETWORK = "Check the network, or the settings of index and proxy (PIP_INDEX_URL, HTTPS_PROXY); then run the same again."

#: Options of the host's commands that people give; nox has none of these names.
HOST_OPTIONS = (
    "--allow-failures", "--baseline", "--budget", "--details", "--device", "--dry-run", "--figures", "--fresh",
    "--interpreter", "--language", "--matrix", "--mode", "--name", "--open", "--precision", "--profile", "--ratios",
    "--run", "--size", "--threads", "--to", "--wait", "--workload",
)  # fmt: skip

#: The option of nox before the names of sessions.
SESSION_OPTIONS = ("-s", "-e", "--session", "--sessions")

# One earlier environment is kept: a run that started in it may still import from it.
KEPT = 2


class SetupError(Exception):
    """An environment of the host cannot be made; the message says what to do."""


def say(text: str) -> None:
    """Print one line of progress at once."""
    print(f"benchmatrix: {text}", file=sys.stderr, flush=True)


def place_of(name: str, root: Path) -> Path:
    """Return the folder of the environment for the present state of its lock and this version of Python."""
    lock = root / "locks" / f"{name}.txt"
    try:
        state = lock.read_bytes() + "{}.{}".format(*sys.version_info).encode()
    except OSError as error:
        raise SetupError(
            f"{lock} cannot be read: {error.strerror}. Restore it: git checkout -- locks/{name}.txt"
        ) from None
    return root / project.STATE / name / hashlib.sha256(state).hexdigest()[:12]


def ensure(name: str, root: Path, *, announce: Announce = say) -> Path:
    """Return the Python of the environment with what ``locks/<name>.txt`` lists; make it where it is missing.

    ``root`` is a checkout of benchmatrix. Each state of the lock has a folder of its own, so a changed lock makes a new
    environment. Raises SetupError.
    """
    lock = root / "locks" / f"{name}.txt"
    place = place_of(name, root)
    python = place / "bin" / "python"
    if os.access(python, os.X_OK):
        return python
    try:
        with exclusive(place, announce) as hold:
            if not os.access(python, os.X_OK):
                announce("making the {} environment (Python {}.{})".format(name, *sys.version_info))
                with replacement(place) as folder:
                    _install(Installation(folder, _base(), lock, name, hold, announce), find_uv(root))
                    repoint(folder, place)
    except NoInstaller as error:
        raise SetupError(str(error)) from None
    except ToolFailed as error:
        raise SetupError(f"the {name} environment could not be made: {error}\n{NETWORK}") from None
    except OSError as error:
        raise SetupError(f"the {name} environment could not be made in {place.parent}: {error}") from None
    _prune(place)
    return python


def _install(site: Installation, uv: str | None) -> None:
    ways = [install_with_fetched_uv, install_with_pip]
    if uv is not None:
        ways.insert(0, functools.partial(install_with_uv, uv=uv))
    for number, way in enumerate(ways, 1):
        try:
            way(site)
            break
        except ToolFailed as error:
            if number == len(ways):
                raise
            # Often only pip is configured for a company's certificates and index.
            site.announce(f"{site.label}: that did not work ({error.summary}); trying another way")
            shutil.rmtree(site.folder, ignore_errors=True)
    # Compiles the modules that will be used, a quarter of all, and checks that they can be imported.
    site.run(site.inside, "-c", f"import {IMPORTED[site.label]}")


def _base() -> str:
    """Return the interpreter behind this one: if this one is an environment's, it may be deleted with it."""
    return getattr(sys, "_base_executable", None) or sys.executable


def _prune(place: Path) -> None:
    """Remove the environments of earlier locks beside ``place``, except the latest."""
    earlier = [path for path in place.parent.iterdir() if path.is_dir() and "." not in path.name and path != place]
    earlier.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in earlier[KEPT - 1 :]:
        shutil.rmtree(path, ignore_errors=True)


def misplaced(arguments: Sequence[str]) -> str | None:
    """Say where ``-s`` is missing, or ``--`` before an option of the host, which nox does not know; None where not."""
    if arguments and not arguments[0].startswith("-"):
        # What is a path, and all after it, is for the session.
        ends = (i for i, word in enumerate(arguments) if os.sep in word or word.startswith("-"))
        end = next(ends, len(arguments))
        rest = list(arguments[end:])
        named = ["-s", *arguments[:end], *(["--"] if rest and os.sep in rest[0] else []), *rest]
        return misplaced(named) or f"the names of sessions belong after -s, as in: {shlex.join(named)}"
    for place, word in enumerate(arguments):
        if word == "--":
            return None
        if _is_of_host(word):
            cut = arguments.index("--") if "--" in arguments else len(arguments)
            rest, after = list(arguments[place:cut]), arguments[cut + 1 :]
            start = next((i for i, other in enumerate(rest) if _names_sessions(other)), len(rest))
            end = next((i for i in range(start, len(rest)) if _is_of_host(rest[i])), len(rest))
            mended = [*arguments[:place], *rest[start:end], "--", *rest[:start], *rest[end:], *after]
            return f"{word.partition('=')[0]} belongs after --, as in: {shlex.join(mended)}"
    return None


def _names_sessions(word: str) -> bool:
    short = word[:2] in SESSION_OPTIONS and not word.startswith("--")
    return short or word.partition("=")[0] in SESSION_OPTIONS


def _is_of_host(word: str) -> bool:
    return word.partition("=")[0] in HOST_OPTIONS


def run_nox(noxfile: Path, arguments: Sequence[str]) -> NoReturn:
    """Replace this process by nox in the host environment; exit with status 2 and the reason where that fails.

    ``noxfile`` may be that of another project. The host environment always belongs to the checkout of this package.
    """
    mistake = misplaced(arguments)
    if mistake is not None:
        print(f"benchmatrix: {mistake}", file=sys.stderr)
        sys.exit(2)
    try:
        python = str(ensure("host", project.PACKAGE.parent))
    except SetupError as error:
        print(f"benchmatrix: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    os.environ[project.CALLED_AS] = shlex.join([Path(sys.executable).name, sys.argv[0]])
    sys.stdout.flush()
    os.execv(python, [python, "-m", "nox", "-f", str(noxfile.resolve()), *arguments])
