"""Tests the order of the rooms of bench.host: a room imports only rooms before it, and no modules form a circle."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Every room (a folder, or a module beside the folders), each after those that it may import.
ROOMS = (
    "system",  # what works on which operating system
    "refusal",  # the exception of a command that cannot be done
    "counts",  # how many there are, in words
    "garbage_collection",
    "project",  # where things lie
    "interrupts",  # signals that end a process
    "statistics",
    "machine",
    "setup",
    "study",
    "workers",
    "containers",
    "environments",
    "storage",
    "analysis",  # numbers
    "reporting",  # words
    "executors",
    "measuring",  # after reporting: a run shows its progress and writes its report
    "validation",
    "commands",
    "sessions",
    "__main__",
)


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted((ROOT / "bench" / "host").rglob("*.py"))}


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[2] if len(parts) > 2 else None


def imported(module: str, path: Path, *, types: bool) -> Iterator[str]:
    """Yield the modules of the host that a module imports, wherever in it; with ``types`` also for annotations only."""
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    tree = ast.parse(path.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types and not types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            for alias in node.names:
                found = f"{base}.{alias.name}"
                if found in MODULES or base in MODULES:
                    yield found if found in MODULES else base


def test_every_room_has_its_place():
    assert {room for module in MODULES if (room := room_of(module))} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_before_it(room):
    wrong = [
        f"{module} imports {found}"
        for module, path in MODULES.items()
        if room_of(module) == room
        for found in imported(module, path, types=True)
        if (other := room_of(found)) is not None and ROOMS.index(other) > ROOMS.index(room)
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle():
    """Imports for annotations only do not count: they name a type, and nothing is loaded for them."""
    graph = {
        module: {found for found in imported(module, path, types=False) if found != module}
        for module, path in MODULES.items()
    }
    assert circle_in(graph) == []


def test_a_circle_is_found():
    assert sorted(set(circle_in({"a": {"b"}, "b": {"a"}}))) == ["a", "b"]


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other, the first one again at the end; empty where none do."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_these_tests_can_fail(tmp_path):
    path = tmp_path / "thief.py"
    path.write_text("def later():\n    from ..measuring import rounds\n    from bench.host.commands import run\n")
    found = set(imported("bench.host.statistics.thief", path, types=False))
    assert found == {"bench.host.measuring.rounds", "bench.host.commands.run"}
