"""Asks uv which versions of all packages fit together, on every platform, and for the hashes of their files."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from ..setup import Announce
from ..setup.installer import installer_environ, is_folder, make_build_environment
from ..setup.tool import run_tool
from ..study import cpu_packages
from ..study.cpu_packages import CpuPackage
from . import cpu_builds, sizes
from .interpreters import find, specifier
from .source_builds import LockError

EXPORT = ("--format", "requirements-txt", "--no-header", "--no-annotate", "--no-emit-project")


def resolve(
    requirements: Sequence[str],
    python: str,
    *,
    uv: str,
    root: Path,
    announce: Announce,
    build_lock: Path | None = None,
    source: str | None = None,
) -> tuple[str, int | None]:
    """Return the lines of a lock, and the bytes that this machine downloads for it, None where that is unknown.

    Raises ToolFailed, NoInterpreter and LockError.

    uv locks a project, which can require one minor version of Python. ``uv pip compile`` cannot: it would also resolve
    for later versions. ``source`` has the CPU builds of one package, see ``cpu_builds``.
    """
    found = find(python, uv=uv, root=root, announce=announce)
    interpreter = found.path
    with tempfile.TemporaryDirectory() as folder:
        package = None if source is None else cpu_packages.among(requirements)
        lines = _project(requirements, python, package, source)
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
        content = sizes.content_of(output.read_text(encoding="utf-8"))
        resolved = tomllib.loads(Path(folder, "uv.lock").read_text(encoding="utf-8"))
    if source is not None and package is not None and is_folder(source):
        content = _with_hashes(content, package.name, Path(source))
        _add_sizes(resolved, Path(source))
    return content, sizes.download_bytes(resolved, found.version)


def _project(requirements: Sequence[str], python: str, package: CpuPackage | None, source: str | None) -> list[str]:
    """Return the lines of the project that uv locks; of an index with CPU builds it takes the package alone."""
    keys = {"name": "lock", "version": "0", "requires-python": str(specifier(python)), "dependencies": requirements}
    lines = ["[project]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]
    if source is None or package is None:
        return lines
    return [
        *lines,
        "[[tool.uv.index]]",
        f'name = "{cpu_builds.SUFFIX}"',
        f"url = {json.dumps(source)}",
        "explicit = true",
        *(['format = "flat"'] if is_folder(source) else []),
        "[tool.uv.sources]",
        f'{package.name} = {{ index = "{cpu_builds.SUFFIX}" }}',
    ]


def _with_hashes(content: str, package: str, folder: Path) -> str:
    """Add the hashes of a package's wheels in a folder to a lock: uv gives a package from a folder none."""
    without = re.compile(rf"^{re.escape(package)}==([^\s\\;]+)( ; [^\\\n]+)?$", re.MULTILINE)
    return without.sub(lambda found: " \\\n    ".join([found[0], *_hashes(package, found[1], folder)]), content)


def _add_sizes(resolved: dict[str, Any], folder: Path) -> None:
    """Add the sizes of the wheels in a folder to uv's lock, which has those of an index alone."""
    for package in resolved.get("package", ()):
        for wheel in package.get("wheels", ()):
            if "path" in wheel and "size" not in wheel:
                wheel["size"] = (folder / wheel["path"]).stat().st_size


def _hashes(package: str, version: str, folder: Path) -> Iterator[str]:
    found = False
    for path in sorted(folder.glob("*.whl")):
        try:
            name, stated, *_rest = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        if (name, stated) == (package, Version(version)):
            found = True
            with path.open("rb") as file:
                yield f"--hash=sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    if not found:
        raise LockError(f"{folder} has no wheel of {package} {version} any more. Make the lock again")
