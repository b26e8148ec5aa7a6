"""Opens pages in headless Chromium, as a reader's browser would from a folder without a network."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser
from pathlib import Path

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


def dump(page: Path, address: str = "", *options: str) -> str:
    """Return the page as HTML after its scripts ran; ``address`` is what follows ``#``."""
    with tempfile.TemporaryDirectory() as profile:
        fresh = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={profile}",
        ]
        wanted = ["--virtual-time-budget=5000", *options, "--dump-dom", f"{page.as_uri()}#{address}"]
        command = [find(), *fresh, *wanted]
        done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    return done.stdout.decode("utf-8")


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
