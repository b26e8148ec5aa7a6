"""Tests the two rings: nothing in the worker ring imports the host, the host never imports a framework."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FRAMEWORKS = ("torch", "tensorflow", "jax", "keras", "flax", "optax")
#: Puts importable stand-ins for the frameworks on the path, so that importing one is seen and not just impossible.
IMPORTER = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
print("\\n".join(sys.modules))
"""
WORKER_RING = ["bench.worker.session", "bench.worker.__main__", "bench.workloads", "bench.frameworks.numpy.adapter"]
HOST_RING = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "bench" / "host").rglob("*.py")
    if path.stem != "__main__"
)
SPECIFICATIONS = [
    f"bench.workloads.{path.name}"
    for path in sorted((ROOT / "bench" / "workloads").iterdir())
    if (path / "__init__.py").exists()
]


@pytest.fixture
def stand_ins(tmp_path):
    for name in FRAMEWORKS:
        (tmp_path / f"{name}.py").write_text("")
    return tmp_path


def imported_by(stand_ins: Path, *modules: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTER, str(stand_ins), *modules], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def host_modules(names: set[str]) -> set[str]:
    return {name for name in names if name == "bench.host" or name.startswith("bench.host.")}


def test_the_worker_ring_imports_nothing_of_the_host(stand_ins):
    names = imported_by(stand_ins, *WORKER_RING, *SPECIFICATIONS)
    assert host_modules(names) == set()
    assert names.isdisjoint({"pydantic", "rich", "tabulate", "scipy", *FRAMEWORKS})


def test_the_host_ring_imports_no_framework(stand_ins):
    assert imported_by(stand_ins, *HOST_RING).isdisjoint(FRAMEWORKS)


def test_these_tests_can_fail(stand_ins):
    (stand_ins / "traitor.py").write_text("import bench.host.measuring.order\nimport torch\n")
    names = imported_by(stand_ins, "traitor")
    assert host_modules(names)
    assert "torch" in names


def imports_of(path: Path) -> set[str]:
    """List what a file imports, wherever in it; relative imports keep their dots."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


@pytest.mark.parametrize(
    "path", sorted((ROOT / "bench" / "workloads").glob("*/*.py")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_an_implementation_imports_its_own_framework_only(path):
    others = set(FRAMEWORKS) - {path.stem} - ({"optax", "flax"} if path.stem == "jax" else set())
    assert imports_of(path).isdisjoint(others)


def test_the_worker_ring_parses_as_python_3_7():
    ring = [ROOT / "bench" / name for name in ("__init__.py", "cell.py", "record.py", "program.py")]
    for folder in ("worker", "frameworks", "workloads"):
        ring += (ROOT / "bench" / folder).rglob("*.py")
    assert len(ring) > 40
    for path in ring:
        ast.parse(path.read_text(), str(path), feature_version=(3, 7))
