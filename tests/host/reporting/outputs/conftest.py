"""Opens one browser for the tests of a module."""

from __future__ import annotations

import browser
import pytest
import remote_browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    opened = remote_browser.Browser(browser.find(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def remote(chromium):
    chromium.start_afresh()
    return chromium
