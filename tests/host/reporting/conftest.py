"""Gives the tests of reporting the made-up language."""

from __future__ import annotations

import pseudo_language
import pytest


@pytest.fixture(scope="session")
def pseudo(tmp_path_factory):
    return pseudo_language.make(tmp_path_factory.mktemp("languages"))
