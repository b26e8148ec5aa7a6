"""Tests the two rings: nothing in the worker ring imports the host, the host never imports a framework."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.registry import BUILT_IN

ROOT = Path(__file__).resolve().parents[1]
FACTS = {name: BUILT_IN.facts(name) for name in BUILT_IN.frameworks}
#: The modules of the frameworks and of what comes with them; not NumPy, which both rings use.
FRAMEWORKS = {module for facts in FACTS.values() for module in (facts.import_name, *facts.companions)}
FRAMEWORKS = sorted(FRAMEWORKS - {"numpy"})
PRODUCTS = {facts.product for facts in FACTS.values()} - {"NumPy"}
#: What a study file and a program call them. NumPy is the host's, too.
NAMES = {name for key, facts in FACTS.items() for name in (key, facts.import_name, facts.distribution)} - {"numpy"}
#: {file of the host that names a framework: why}
NAMED_BY_THE_HOST = {
    "environments/locks.py": "the environments of the public programs that benchmarks/public.py runs",
    "reporting/figures/style.py": "the colours and markers of a figure, of which no two frameworks may have the same",
}
#: Puts importable stand-ins for the frameworks on the path, so that importing one is seen and not just impossible.
IMPORTER = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
print("\\n".join(sys.modules))
"""
WORKER_RING = ["bench.worker.session", "bench.worker.__main__", "bench.workloads", "bench.frameworks.numpy.adapter"]
WORKER_RING += ["bench.registry", *(f"bench.frameworks.{name}.facts" for name in FACTS)]
#: The packages of the worker ring, and its modules beside them.
WORKER_PACKAGES = ("worker", "frameworks", "workloads", "differentiation")
WORKER_FILES = sorted(
    path
    for path in (ROOT / "bench").rglob("*.py")
    if len(path.relative_to(ROOT / "bench").parts) == 1 or path.relative_to(ROOT / "bench").parts[0] in WORKER_PACKAGES
)
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


def names_of_frameworks(text: str) -> set[str]:
    """List what names a framework in a file of the host: a value, a part of an identifier, a product in a sentence.

    An example in a message, such as "torch1:eager", is no such value. Docstrings may explain.
    """
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            found |= {node.value} & NAMES | {name for name in PRODUCTS if re.search(rf"\b{name}\b", node.value)}
        elif isinstance(node, ast.Name | ast.Attribute | ast.arg | ast.keyword | ast.FunctionDef | ast.ClassDef):
            name = next(getattr(node, key) for key in ("id", "attr", "arg", "name") if hasattr(node, key)) or ""
            found |= set(name.lower().split("_")) & NAMES
    return found


def test_the_host_ring_names_no_framework():
    found = {}
    for path in sorted((ROOT / "bench" / "host").rglob("*.py")):
        if names := names_of_frameworks(path.read_text("utf-8")):
            found[str(path.relative_to(ROOT / "bench" / "host"))] = names
    assert set(found) == set(NAMED_BY_THE_HOST), found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('PACKAGE = "torch"', {"torch"}),
        ("address = study.indexes.torch_cpu", {"torch"}),
        ('def f():\n    return f"Its PyTorch comes from {place}"', {"PyTorch"}),
        ('"""How PyTorch does it."""\nx = 1', set()),
        ('"""How torch does it."""\nexample = "torch1:eager, jax:jit, torch==2.15.0"', set()),
    ],
)
def test_what_names_a_framework_is_found(text, found):
    assert names_of_frameworks(text) == found


def test_these_tests_can_fail(stand_ins):
    (stand_ins / "traitor.py").write_text("import bench.host.measuring.order\nimport torch\n")
    names = imported_by(stand_ins, "traitor")
    assert host_modules(names)
    assert "torch" in names


def imports_of(path: Path, text: str | None = None) -> set[str]:
    """List the modules that a file imports, wherever in it, by their full names; ``from a import b`` may mean a.b."""
    package = path.relative_to(ROOT).parent.parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text() if text is None else text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("path", WORKER_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_of_the_worker_ring_names_the_host_in_an_import(path):
    assert host_modules(imports_of(path)) == set()


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("bench/frameworks/jax/adapter.py", "from ...host import statistics"),
        ("bench/frameworks/loaded.py", "def late():\n    from ..host.statistics import rates"),
        ("bench/workloads/gemm/torch.py", "from ...host import statistics"),
        ("bench/workloads/gemm/torch.py", "from ... import host"),
        ("bench/worker/session.py", "import bench.host.statistics"),
        ("bench/cell.py", "from . import host"),
    ],
)
def test_an_import_of_the_host_is_found_however_it_is_written(file, line):
    assert ROOT / file in WORKER_FILES
    assert host_modules(imports_of(ROOT / file, line))


@pytest.mark.parametrize(
    "path", sorted((ROOT / "bench" / "workloads").glob("*/*.py")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_an_implementation_imports_its_own_framework_only(path):
    own = FACTS.get(path.stem)
    others = set(FRAMEWORKS) - ({own.import_name, *own.companions} if own else set())
    assert {name.partition(".")[0] for name in imports_of(path)}.isdisjoint(others)


@pytest.mark.parametrize("path", WORKER_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_worker_ring_parses_as_python_3_7(path):
    assert problem_on_python_3_7(path.read_text()) is None


def test_a_newer_form_is_a_problem_on_python_3_7():
    assert problem_on_python_3_7("if (n := 1): pass") is not None


def problem_on_python_3_7(source):
    """Return what the grammar of Python 3.7 does not have; None where it has all of it."""
    try:
        ast.parse(source, feature_version=(3, 7))
    except SyntaxError as error:
        return str(error)
    return None


def test_the_worker_ring_is_whole():
    assert len(WORKER_FILES) > 40
