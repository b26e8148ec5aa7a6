"""Ends the building of the site with an error where a link of its pages leads to no file or anchor of it.

mkdocs looks at links between its own pages before they are made, and not at those that lead out of ``docs/``.
"""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mkdocs.exceptions import PluginError


class Links(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links |= {value for name in ("href", "src") if (value := given.get(name))}
        self.anchors |= {value for value in (given.get("id"),) if value}


def on_post_build(config: Any) -> None:
    """Look at every link; mkdocs calls this."""
    site = Path(config.site_dir)
    # The links of the page of errors are those of a server's root.
    pages = {page: Links(page) for page in sorted(site.rglob("*.html")) if page.name != "404.html"}
    dead = [
        f"{page.relative_to(site)}: {link}"
        for page, found in pages.items()
        for link in sorted(found.links)
        if not leads(page, link, pages)
    ]
    if dead:
        raise PluginError("links of the site that lead nowhere:\n" + "\n".join(dead))


def leads(page: Path, link: str, pages: dict[Path, Links]) -> bool:
    """Tell whether a link of a page leads to a file of the site and, in another page, to an anchor of it."""
    target = urlsplit(link)
    if target.scheme or target.netloc:
        return True
    path = Path(os.path.normpath(page.parent / unquote(target.path))) if target.path else page
    path = path / "index.html" if path.is_dir() else path
    anchored = path not in pages or not target.fragment or unquote(target.fragment) in pages[path].anchors
    return path.exists() and anchored
