"""Finds the files that define what a cell computes, by following imports; compiled code and references depend on them.

Only files of the sources count: the framework's installation is described by its lock.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench.registry import Registry, Source, folder_of


def of_specification(registry: Registry, workload: str, *others: Path) -> list[Path]:
    """List the files that define a workload: its specification and the data beside it, ``others``, and all imports."""
    source = registry.home_of(workload)
    folder = Path(source.path("workloads", folder_of(workload)))
    data = [path for path in folder.iterdir() if path.is_file() and not _is_no_data(path)]
    return sorted({*data, *_with_imports(registry, [folder / "__init__.py", *others])})


def _is_no_data(path: Path) -> bool:
    """Tell whether a file beside a specification is code, whose imports decide, or its page in the documentation."""
    return path.suffix in (".py", ".pyc") or path.name == "page.md"


def of_framework(registry: Registry, framework: str) -> list[Path]:
    """List the files that define a framework, and their imports."""
    return sorted(_with_imports(registry, _in_folder(registry, framework)))


def of_cell(registry: Registry, workload: str, framework: str) -> list[Path]:
    """List the files that define a cell: its specification, its implementation, its framework, and their imports."""
    roots = _in_folder(registry, framework)
    source = registry.implementing(workload, framework)
    if source is not None:
        roots.append(Path(source.path("workloads", folder_of(workload), f"{framework}.py")))
    return sorted({*_with_imports(registry, roots), *of_specification(registry, workload)})


def _in_folder(registry: Registry, framework: str) -> list[Path]:
    sources = registry.defining(framework)
    return [path for source in sources for path in Path(source.path("frameworks", framework)).rglob("*.py")]


def digest(registry: Registry, files: Iterable[Path]) -> str:
    """Hash the names and the contents of files, wherever their source lies."""
    hashed = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        hashed.update(f"{_name(registry, path)}\0{len(content)}\0".encode())
        hashed.update(content)
    return hashed.hexdigest()


def changed(registry: Registry, before: Mapping[Path, bytes], known: Iterable[str] = ()) -> tuple[str, ...]:
    """Name the files that have another content than ``before``, or none, and those ``known`` to have changed."""
    gone = (path for path, content in before.items() if not path.is_file() or path.read_bytes() != content)
    return tuple(sorted({*known, *(_name(registry, path) for path in gone)}))


def _name(registry: Registry, path: Path) -> str:
    source = _source_of(registry, path)
    return f"{source.name}/{path.relative_to(source.folder)}" if source else path.name


def _with_imports(registry: Registry, roots: Iterable[Path]) -> set[Path]:
    found: set[Path] = set()
    left = list(roots)
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            state = path.stat()
            left += _imports(registry, path, state.st_mtime_ns, state.st_size)
    return found


@functools.cache
def _imports(registry: Registry, path: Path, changed_ns: int, size: int) -> tuple[Path, ...]:
    """List the files of the sources that a file imports, wherever in it the import stands.

    A run needs them for every row. With the time of the last change and the size, they are found again only for a file
    that was edited.
    """
    source = _source_of(registry, path)
    if source is None:
        return ()
    package = ".".join((source.package, *path.relative_to(source.folder).parent.parts))
    named = _named(path.read_bytes(), package)
    files = ((name and _file(registry, f"{module}.{name}")) or _file(registry, module) for module, name in named)
    return tuple(file for file in files if file is not None)


def _named(code: bytes, package: str) -> tuple[tuple[str, str], ...]:
    """List the imports of a module of ``package`` as (module, name), the name empty for ``import module``."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):
        return ()  # Whoever imports it says where the error is.
    found = [(alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found += [(module, alias.name) for alias in node.names]
    return tuple(found)


def _file(registry: Registry, module: str) -> Path | None:
    for source in registry.sources:
        if module.startswith(f"{source.package}."):
            place = Path(source.folder, *module.removeprefix(f"{source.package}.").split("."))
            return next((p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file()), None)
    return None


def _source_of(registry: Registry, path: Path) -> Source | None:
    return next((source for source in registry.sources if path.is_relative_to(source.folder)), None)
