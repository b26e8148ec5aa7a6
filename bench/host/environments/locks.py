"""Makes, finds and checks locks: every package of an environment, with version and hashes.

A project keeps its locks in ``locks/``. Where it has none of a name, the one that comes with the package is used if it
was made for the same requirements.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import project
from ..setup import Announce
from ..setup.installer import find_uv, is_folder
from ..setup.staging import write_whole
from ..setup.tool import ToolFailed
from ..study import cpu_packages
from ..study.environment import Environment
from . import cpu_builds, sizes, source_builds
from .interpreters import NoInterpreter
from .resolution import resolve
from .sizes import content_hash, content_of
from .source_builds import LockError

HEADER = re.compile(r"# (fits|content): ([0-9a-f]{64})")

# An address or a path in a lock would tie it to one machine or one network.
TIED = re.compile(r"\S*(?:://|file:)\S*|(?<=@ )/\S+")

# A line of a lock: a package with its version and what it is for, or one of its hashes.
LINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[^\]]*\])?==[^\s\\]+( ; [^\\]+)? \\| +--hash=sha256:[0-9a-f]+( \\)?")

# The environments of benchmatrix itself; pyproject.toml lists what they hold.
PUBLIC = ("torch", "torch1", "torch-xla", "tensorflow", "jax")
OWN = ("host", "dev", "worker", "peers", *(f"public-{name}" for name in PUBLIC))


@dataclass(frozen=True)
class LockRequest:
    """What a lock is made for."""

    name: str
    python: str
    requirements: tuple[str, ...]
    #: What packages are built with; empty where only wheels are allowed.
    build: tuple[str, ...] = ()
    #: The index or folder with CPU builds; None where the usual builds are locked.
    source: str | None = None

    def for_building(self) -> LockRequest:
        """Return the request for the lock of the build requirements."""
        return LockRequest(source_builds.build_lock(self.name), self.python, self.build)


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


def fingerprint(request: LockRequest) -> str:
    """Hash what a lock was made for; the order of the requirements does not matter.

    Where a CPU build comes from is left out: another machine may have another index with the same wheels.
    """
    stated: dict[str, object] = {"python": request.python, "requirements": _sorted(request.requirements)}
    if request.build:
        stated["build"] = _sorted(request.build)
    if request.source is not None:
        stated["packages"] = [cpu_builds.SUFFIX]
    return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()


def verify(request: LockRequest, *, root: Path) -> Path:
    """Return the path of the lock if it fits the request and is as it was generated. Raises LockError."""
    path = find_lock(request.name, root)
    shown = f"locks/{request.name}.txt"
    remedy = f"Run: nox -s lock -- {request.name}"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LockError(f"{shown} cannot be read: {error}. {remedy}") from None
    stated = _stated(lines)
    if stated.get("fits") != fingerprint(request):
        wanted = f"Python {request.python} with {', '.join(request.requirements)}"
        raise LockError(f"{shown} was made for other requirements than {wanted}. {remedy}")
    content = content_of("\n".join(lines))
    if stated.get("content") != content_hash(content):
        raise LockError(f"{shown} was changed after it was generated. Restore it from git, or renew it. {remedy}")
    others = (line for line in content.splitlines() if not (LINE.fullmatch(line) or (request.build and " @ " in line)))
    odd = next(others, None)
    if odd is not None:
        raise LockError(f"{shown} has a line that no lock has: {odd!r}. {remedy}")
    return path


def present(request: LockRequest, *, root: Path, announce: Announce) -> Path:
    """Return the path of the lock; make it where there is none that fits. Raises LockError."""
    packaged = find_lock(request.name, root)
    missing = not packaged.exists() or (
        packaged != lock_path(request.name, root)
        and _stated(packaged.read_text(encoding="utf-8").splitlines()).get("fits") != fingerprint(request)
    )
    if missing:
        announce(f"{request.name}: making locks/{request.name}.txt, which does not exist yet; keep it with the study")
        lock(request, root=root, announce=announce)
    if request.build:
        verify(request.for_building(), root=root)
    return verify(request, root=root)


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
        **{name: (pythons[f"{name}-python"], tuple(groups[name])) for name in OWN[2:]},
    }


def own_environment(name: str, root: Path) -> Environment:
    """Describe an environment of benchmatrix itself in the way a study describes others."""
    python, requirements = own(root)[name]
    # Not validated: its Python is a range, which a study file may not give.
    return Environment.model_construct(name=name, framework="numpy", python=python, requirements=requirements, modes=())


def renew(
    environments: Mapping[str, Environment], names: Sequence[str], *, root: Path, announce: Announce
) -> list[Path]:
    """Renew the locks of the named environments, or of all, with the newest versions that fit.

    Those of ``OWN`` are there in a checkout. Raises LockError, after the others are made.
    """
    needs = {name: LockRequest(name, *each) for name, each in own(root).items()}
    shared = {name for name, environment in environments.items() if environment.lock}
    for name, environment in environments.items():
        # A container that shares a venv's lock has none of its own.
        if environment.python is not None and name not in shared:
            about = (environment.python, environment.requirements)
            needs[name] = LockRequest(name, *about, build=source_builds.build_requirements(environment))
            source = cpu_builds.source_of(environment)
            if source is not None:
                cpu_name = cpu_builds.lock_name(environment)
                needs[cpu_name] = LockRequest(cpu_name, *about, source=source)
    for name in names:
        if name not in needs:
            there_are = f"there are: {', '.join(needs)}" if needs else "no environment of the study has one of its own"
            raise LockError(f"there is no lock {name!r} to make; {there_are}")
    if not needs:
        announce("No environment of the study has a lock of its own.")
    made, refused = [], []
    for name in names or needs:
        try:
            made.append(lock(needs[name], root=root, announce=announce))
        except LockError as error:
            refused.append(str(error))
    if refused:
        raise LockError("\n".join(refused))
    return made


def lock(request: LockRequest, *, root: Path, announce: Announce) -> Path:
    """Resolve the requirements for every platform and write the lock. Raises LockError.

    Without build requirements nothing but wheels is looked at. With them, their lock is made first, and source
    distributions are asked for their requirements in an environment of that lock.
    """
    source, failed = request.source, f"locks/{request.name}.txt cannot be made"
    package = None if source is None else cpu_packages.among(request.requirements)
    source_builds.check(request.name, request.requirements, allowed=bool(request.build))
    if package is not None and source is not None and is_folder(source) and not Path(source).is_dir():
        raise LockError(f"{failed}: {source} is no folder; correct {package.named}")
    uv = find_uv(root)
    if uv is None:
        raise LockError("uv makes the locks, and it is not installed; install it, for example with: pipx install uv")
    announce(f"locking {request.name}: {', '.join(request.requirements)}")
    building = lock(request.for_building(), root=root, announce=announce) if request.build else None
    try:
        content, download_bytes = resolve(
            request.requirements,
            request.python,
            uv=uv,
            root=root,
            announce=announce,
            build_lock=building,
            source=source,
        )
    except (ToolFailed, NoInterpreter) as error:
        from_index = f"\nIts {package.product} comes from the place that {package.named} names" if package else ""
        raise LockError(f"{failed}: {error}{from_index}") from None
    tied = TIED.search(content)
    if tied is not None and not request.build:
        raise LockError(f"{failed}: {tied[0]!r} would tie it to this machine; require it by version")
    unhashed = re.search(r"^[^\s#][^\\\n]*$", content, re.MULTILINE)
    if unhashed is not None:
        why = f"{unhashed[0]!r} has no hash, as a package from a folder has none; have an index serve it"
        raise LockError(f"{failed}: {why}")
    path = write(request, content, root=root)
    sizes.note(path, download_bytes)
    return path


def write(request: LockRequest, content: str, *, root: Path) -> Path:
    """Write the lock into the project, with a header by which ``verify`` checks it."""
    header = [
        f"# The lock of {request.name}: Python {request.python} with {', '.join(request.requirements)}",
        f"# Generated; renew it with: nox -s lock -- {request.name}",
        f"# fits: {fingerprint(request)}",
        f"# content: {content_hash(content)}",
    ]
    path = lock_path(request.name, root)
    write_whole(path, "\n".join([*header, content]) + "\n")
    return path


def _stated(lines: Iterable[str]) -> dict[str, str]:
    """Return what the header of a lock states: what it was made for, and the hash of its content."""
    return {match[1]: match[2] for line in lines if (match := HEADER.fullmatch(line))}


def _sorted(requirements: Iterable[str]) -> list[str]:
    return sorted(" ".join(item.split()) for item in requirements)
