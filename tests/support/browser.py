"""Finds a browser, and reads the HTML that it shows."""

from __future__ import annotations

import html
import os
import re
import shutil
from html.parser import HTMLParser

import pytest

#: Set in CI, so that tests fail instead of being skipped when there is no browser.
REQUIRED = "BENCHMATRIX_BROWSER_REQUIRED"
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find() -> str:
    """Return the path of a browser; skip the test where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        if os.environ.get(REQUIRED):
            raise AssertionError("there is no Chromium; install Debian's chromium")
        pytest.skip("there is no Chromium")
    return found


class Elements(HTMLParser):
    """The names of the elements of a page, and those of their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def shown(text: str) -> str:
    """Return the text of a page without its scripts and data, as a reader sees it."""
    without = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", without)).split())
