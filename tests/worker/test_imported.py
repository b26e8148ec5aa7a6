"""Tests what an import is said to cost."""

from __future__ import annotations

import sys

import pytest

from bench.worker.imported import Imported


class Registry:
    """A registry of one framework, whose adapter imports ``module``."""

    def __init__(self, module):
        self.import_name = module

    def facts(self, _framework):
        return self

    def adapter(self, _framework):
        return __import__(self.import_name)


@pytest.fixture
def fresh(monkeypatch):
    """Return the name of a module that is not imported."""
    monkeypatch.delitem(sys.modules, "this", raising=False)
    return "this"


def test_an_import_is_timed_once(fresh, capsys):
    imported = Imported()
    module = imported.adapter(Registry(fresh), "toy")
    seconds = imported.seconds
    assert seconds > 0
    assert imported.adapter(Registry(fresh), "toy") is module
    assert imported.seconds == seconds


def test_what_the_worker_has_imported_for_itself_has_no_time_of_import():
    imported = Imported()
    imported.adapter(Registry("sys"), "toy")
    assert imported.seconds is None
