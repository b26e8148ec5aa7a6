"""Tests that notes are values: equal ones are one, and they know how serious they are."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bench.host import analysis
from bench.host.analysis.notes import NoteKind, Severity, note, worst

FOLDER = Path(analysis.__file__).parent


def test_equal_notes_are_one():
    first, second = (note(NoteKind.SPLIT_GRAPHS, Severity.INFO, graphs=2, reasons=("print",)) for _ in range(2))
    assert len({first, second}) == 1
    assert (first["graphs"], first["reasons"]) == (2, ("print",))


def test_the_worst_of_several_notes_is_their_severity():
    info, caution = note(NoteKind.NOT_RUN, Severity.INFO), note(NoteKind.LARGE_SPREAD, Severity.CAUTION)
    assert worst([info, caution, info]) is Severity.CAUTION
    assert worst([]) is None


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_analysis_imports_nothing_from_reporting(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert "reporting" not in (node.module or "")
