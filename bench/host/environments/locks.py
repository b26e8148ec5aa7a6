"""Makes, finds and checks locks: every package of an environment, with version and hashes.

A project keeps its locks in ``locks/``. Where it has none of a name, the one that comes with the package is used if it
was made for the same requirements.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from .. import project
from ..setup.installer import find_uv, installer_environ, make_build_environment
from ..setup.staging import write_whole
from ..setup.tool import ToolFailed, run_tool
from . import source_builds
from .buildable import Buildable
from .interpreters import NoInterpreter, find, specifier
from .source_builds import LockError

Announce = Callable[[str], None]

HEADER = re.compile(r"# (fits|content): ([0-9a-f]{64})")

# An address or a path in a lock would tie it to one machine or one network.
TIED = re.compile(r"\S*(?:://|file:)\S*|(?<=@ )/\S+")

# A line of a lock: a package with its version and what it is for, or one of its hashes.
LINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[^\]]*\])?==[^\s\\]+( ; [^\\]+)? \\| +--hash=sha256:[0-9a-f]+( \\)?")

# An archive at an address, where the study allows it.
ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[^\]]*\])? @ [^\s\\]+( ; [^\\]+)? \\")

EXPORT = ("--format", "requirements-txt", "--no-header", "--no-annotate", "--no-emit-project")

# The environments of benchmatrix itself; pyproject.toml lists what they hold.
OWN = ("host", "dev", "worker", "peers")


def lock_path(name: str, root: Path) -> Path:
    """Return where the project at ``root`` keeps the lock ``name``."""
    return root / "locks" / f"{name}.txt"


def find_lock(name: str, root: Path) -> Path:
    """Return the lock ``name`` of the project, or else of the package; the project's path where neither exists."""
    paths = [lock_path(name, root), project.data(f"locks/{name}.txt")]
    return next((path for path in paths if path.exists()), paths[0])


def lock_hash(path: Path) -> str:
    """Return the hash that identifies a state of a lock."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fingerprint(requirements: Iterable[str], python: str, build: Iterable[str] = ()) -> str:
    """Hash what a lock was made for; the order of the requirements does not matter.

    ``build`` is what packages are built with; empty where only wheels are allowed.
    """
    stated = {"python": python, "requirements": sorted(" ".join(item.split()) for item in requirements)}
    if build:
        stated["build"] = sorted(" ".join(item.split()) for item in build)
    return _hash(json.dumps(stated, sort_keys=True))


def verify(name: str, requirements: Iterable[str], python: str, *, root: Path, build: Iterable[str] = ()) -> Path:
    """Return the path of the lock if it fits ``requirements`` and is as it was generated. Raises LockError."""
    path = find_lock(name, root)
    shown = f"locks/{name}.txt"
    remedy = f"Run: nox -s lock -- {name}"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LockError(f"{shown} cannot be read: {error}. {remedy}") from None
    stated = _stated(lines)
    if stated.get("fits") != fingerprint(requirements, python, build):
        wanted = ", ".join(requirements)
        raise LockError(f"{shown} was made for other requirements than Python {python} with {wanted}. {remedy}")
    if stated.get("content") != _hash(_content(lines)):
        raise LockError(f"{shown} was changed after it was generated. Restore it from git, or renew it. {remedy}")
    odd = next(
        (line for line in _content(lines).splitlines() if not (LINE.fullmatch(line) or (build and " @ " in line))), None
    )
    if odd is not None:
        raise LockError(f"{shown} has a line that no lock has: {odd!r}. {remedy}")
    return path


def present(
    name: str, requirements: Sequence[str], python: str, *, root: Path, announce: Announce, build: Sequence[str] = ()
) -> Path:
    """Return the path of the lock; make it where there is none that fits. Raises LockError."""
    packaged = find_lock(name, root)
    missing = not packaged.exists() or (
        packaged != lock_path(name, root)
        and _stated(packaged.read_text(encoding="utf-8").splitlines()).get("fits")
        != fingerprint(requirements, python, build)
    )
    if missing:
        announce(f"{name}: making locks/{name}.txt, which does not exist yet; keep it with the study")
        lock(name, requirements, python, root=root, announce=announce, build=build)
    if build:
        verify(source_builds.build_lock(name), build, python, root=root)
    return verify(name, requirements, python, root=root, build=build)


def own(root: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return {name: (Python, requirements)} of the environments of benchmatrix itself, from pyproject.toml.

    Empty where ``root`` is not a checkout of benchmatrix.
    """
    path = root / "pyproject.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    about, groups = tables.get("project", {}), tables.get("dependency-groups", {})
    if about.get("name") != "benchmatrix":
        return {}
    python, requirements, pythons = about["requires-python"], about["dependencies"], tables["tool"]["benchmatrix"]
    return {
        "host": (python, tuple(requirements)),
        "dev": (python, (*requirements, *groups["dev"])),
        "worker": (pythons["worker-python"], tuple(groups["worker"])),
        "peers": (pythons["peers-python"], tuple(groups["peers"])),
    }


def renew(environments: Mapping[str, Buildable], names: Sequence[str], *, root: Path, announce: Announce) -> list[Path]:
    """Renew the locks of the named environments, or of all, with the newest versions that fit.

    In a checkout, ``host``, ``dev``, ``worker`` and ``peers`` name those of benchmatrix itself. Raises LockError.
    """
    needs: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
        name: (*each, ()) for name, each in own(root).items()
    }
    shared = {name for name, environment in environments.items() if getattr(environment, "lock", None)}
    for name, environment in environments.items():
        # A container that shares a venv's lock has none of its own.
        if environment.python is not None and name not in shared:
            build = source_builds.build_requirements(environment)
            needs[name] = (environment.python, environment.requirements, build)
    for name in names:
        if name not in needs:
            raise LockError(f"there is no lock {name!r} to make; there are: {', '.join(needs)}")
    return [
        lock(name, requirements, python, root=root, announce=announce, build=build)
        for name, (python, requirements, build) in ((name, needs[name]) for name in names or needs)
    ]


def lock(
    name: str, requirements: Sequence[str], python: str, *, root: Path, announce: Announce, build: Sequence[str] = ()
) -> Path:
    """Resolve ``requirements`` for every platform and write the lock ``name``. Raises LockError.

    Without ``build`` nothing but wheels is looked at. With it, its lock is made first, and source distributions are
    asked for their requirements in an environment of that lock.
    """
    source_builds.check(name, requirements, allowed=bool(build))
    uv = find_uv(root)
    if uv is None:
        raise LockError("uv makes the locks, and it is not installed; install it, for example with: pipx install uv")
    announce(f"locking {name}: {', '.join(requirements)}")
    building = lock(source_builds.build_lock(name), build, python, root=root, announce=announce) if build else None
    try:
        content = _resolve(requirements, python, uv=uv, root=root, announce=announce, build_lock=building)
    except (ToolFailed, NoInterpreter) as error:
        raise LockError(f"locks/{name}.txt cannot be made: {error}") from None
    tied = TIED.search(content)
    if tied is not None and not build:
        raise LockError(
            f"locks/{name}.txt cannot be made: {tied[0]!r} would tie it to this machine; require it by version"
        )
    unhashed = re.search(r"^[^\s#][^\\\n]*$", content, re.MULTILINE)
    if unhashed is not None:
        raise LockError(
            f"locks/{name}.txt cannot be made: {unhashed[0]!r} has no hash, as a package from a folder has none; "
            "have an index serve it"
        )
    return write(name, requirements, python, content, root=root, build=build)


def write(
    name: str, requirements: Sequence[str], python: str, content: str, *, root: Path, build: Iterable[str] = ()
) -> Path:
    """Write the lock ``name`` into the project, with a header by which ``verify`` checks it."""
    header = [
        f"# The lock of {name}: Python {python} with {', '.join(requirements)}",
        f"# Generated; renew it with: nox -s lock -- {name}",
        f"# fits: {fingerprint(requirements, python, build)}",
        f"# content: {_hash(content)}",
    ]
    path = lock_path(name, root)
    write_whole(path, "\n".join([*header, content]) + "\n")
    return path


def _resolve(
    requirements: Sequence[str], python: str, *, uv: str, root: Path, announce: Announce, build_lock: Path | None
) -> str:
    """Return the lines of a lock.

    uv locks a project, which can require one minor version of Python. ``uv pip compile`` cannot: it would also resolve
    for later versions.
    """
    keys = {"name": "lock", "version": "0", "requires-python": str(specifier(python)), "dependencies": requirements}
    interpreter = find(python, uv=uv, root=root, announce=announce).path
    with tempfile.TemporaryDirectory() as folder:
        lines = ["[project]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]
        Path(folder, "pyproject.toml").write_text("\n".join(lines), encoding="utf-8")
        building = "--no-build"
        if build_lock is not None:
            building = "--no-build-isolation"
            interpreter = make_build_environment(Path(folder, "build"), interpreter, build_lock, uv, announce)

        def run(*command: str) -> None:
            at = ("--quiet", "--project", folder, "--python", interpreter)
            environ = installer_environ(root)
            run_tool([uv, *command, *at], label="resolving", announce=announce, environ=environ, cwd=folder)

        output = Path(folder, "lock.txt")
        run("lock", building)
        run("export", "--frozen", *EXPORT, "--output-file", str(output))
        return _content(output.read_text(encoding="utf-8").splitlines())


def _stated(lines: Iterable[str]) -> dict[str, str]:
    """Return what the header of a lock states: what it was made for, and the hash of its content."""
    return {match[1]: match[2] for line in lines if (match := HEADER.fullmatch(line))}


def _content(lines: Iterable[str]) -> str:
    return "\n".join(line for line in lines if line.strip() and not line.startswith("#"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
