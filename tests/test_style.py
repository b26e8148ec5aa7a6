"""Tests the rules of style that a program can check: sizes, names and docstrings."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("bench", "benchmarks")
MOST_MODULE_LINES = 250
MOST_FUNCTION_LINES = 60
#: Words with a plainer one: cell process, row round, row measurement, transport, partial file.
BANNED_WORDS = {"seat", "seats", "sitting", "sittings", "sitter", "sitters", "talks", "aside"}
#: The trial data of a validation. A compiler's trace keeps its usual name.
BANNED_IN_VALIDATION = {"trace", "traces"}
BANNED_MODULES = {"ends", "question", "common", "helpers", "manager", "utils"}


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax trees of the code by path."""
    files = [ROOT / "noxfile.py", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(files)}


def definitions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines, binds or uses; a keyword argument counts, a string does not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def words(identifier: str) -> set[str]:
    """Split ``row_round`` and ``RowRound`` into lower-case words."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)}


def test_no_docstring_starts_with_knows():
    found = set()
    for path, tree in modules().items():
        documented = [(path, tree), *((f"{path}:{node.name}", node) for node in definitions(tree))]
        found |= {name for name, node in documented if (ast.get_docstring(node) or "").startswith("Knows")}
    assert found == set()


def test_every_module_says_what_it_does():
    assert {path for path, tree in modules().items() if len((ast.get_docstring(tree) or "").split()) < 3} == set()


def test_modules_are_short():
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {path for path, length in lengths.items() if length > MOST_MODULE_LINES} == set()


def test_functions_are_short():
    found = {
        f"{path}:{node.name}"
        for path, tree in modules().items()
        for node in definitions(tree)
        if not isinstance(node, ast.ClassDef) and (node.end_lineno or 0) - node.lineno >= MOST_FUNCTION_LINES
    }
    assert not found


def test_a_class_name_in_the_host_has_one_meaning():
    places = defaultdict(list)
    for path, tree in modules().items():
        for node in definitions(tree):
            if isinstance(node, ast.ClassDef) and path.startswith("bench/host/"):
                places[node.name].append(path)
    assert {name for name, paths in places.items() if len(paths) > 1} == set()


def test_identifiers_use_the_words_of_the_vocabulary():
    found = set()
    for path, tree in modules().items():
        banned = BANNED_WORDS | (BANNED_IN_VALIDATION if "validat" in path else set())
        names = [Path(path).stem, *identifiers(tree)]
        found |= {f"{path}:{name}" for name in names if words(name) & banned}
    assert found == set()


def test_modules_are_named_after_what_they_hold():
    assert {path for path in modules() if Path(path).stem in BANNED_MODULES} == set()


def test_modules_of_tests_have_different_names():
    """Folders of tests are no packages, so that pytest collects one module of each name and stops at the next."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert {name for name, count in names.items() if count > 1} == set()


def test_the_way_of_a_sample_leads_through_what_exists():
    text = ast.get_docstring(modules()["bench/__init__.py"]) or ""
    steps = re.findall(r"^  (\S+/\S*)", text, re.MULTILINE)
    assert len(steps) > 5
    assert [step for step in steps if not (ROOT / "bench" / step).exists()] == []
