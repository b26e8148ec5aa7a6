"""Brings into the site what its pages link to elsewhere in the repository: committed runs, SECURITY.md, source files.

People read the same texts in the repository, so their links are those of the repository. Here a link is resolved there,
and then leads to the page that the site makes of its target, or to a copy of the file.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
#: A link of Markdown, or the source of a picture: what stands before its target, the target, and its anchor.
LINK = re.compile(r"""(\]\(|src=")([^)\s"#:]+)(#[^)\s"]*)?(?=[)"])""")
#: {place in the repository: page}, for pages that are made from code.
MADE = {"bench/host/study/schema.py": "reference/study-file.md", "bench/workloads": "workloads/index.md"}
WORKLOAD = re.compile(r"bench/workloads/(\w+)/page\.md")
#: Pages whose text is long and of numbers are not searched.
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"
SEARCHED = ("README.md", "SECURITY.md", "CONTRIBUTING.md")


def on_files(files: Files, config: Any) -> Files:
    """Add what is linked to, and what that links to; mkdocs calls this."""
    known = {file.src_uri for file in files}
    waiting = [file for file in files if file.is_documentation_page()]
    while waiting:
        file = waiting.pop()
        place = place_of(file.src_uri)
        for _, target, _ in LINK.findall(file.content_string):
            found = resolved(place, target)
            if found is not None and (page := page_of(found)) not in known:
                known.add(page)
                files.append(other := made(page, ROOT / found, config))
                waiting += [other] if other.is_documentation_page() else []
    return files


def made(page: str, path: Path, config: Any) -> File:
    """Return a page, or the copy of a file."""
    if path.suffix != ".md" or path.name in SEARCHED:
        return File.generated(config, page, abs_src_path=str(path))
    return File.generated(config, page, content=UNSEARCHED + path.read_text(encoding="utf-8"))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let the links of a page lead to pages and files of the site; mkdocs calls this."""
    own = page.file.src_uri

    def led(link: re.Match[str]) -> str:
        found = resolved(place_of(own), link[2])
        if found is None:
            return link[0]
        return f"{link[1]}{os.path.relpath(page_of(found), posixpath.dirname(own) or '.')}{link[3] or ''}"

    return LINK.sub(led, markdown)


def place_of(page: str) -> str:
    """Return the place in the repository of a page's text."""
    if (ROOT / "docs" / page).is_file():
        return f"docs/{page}"
    folder, _, name = page.rpartition("/")
    if folder == "workloads" and name != "index.md":
        return f"bench/workloads/{name.removesuffix('.md').replace('-', '_')}/page.md"
    return page


def page_of(place: str) -> str:
    """Return the page, or the file of the site, that stands for a place in the repository."""
    if place in MADE:
        return MADE[place]
    workload = WORKLOAD.fullmatch(place)
    if workload:
        return f"workloads/{workload[1].replace('_', '-')}.md"
    return place.removeprefix("docs/")


def resolved(place: str, target: str) -> str | None:
    """Return where a link leads in the repository; None where it leads to no file there.

    A folder stands for its README, or for its table where it has none.
    """
    found = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
    if found.startswith("..") or not (ROOT / found).exists():
        return None
    if (ROOT / found).is_dir() and found not in MADE:
        texts = (f"{found}/{name}" for name in ("README.md", "table.md"))
        return next((text for text in texts if (ROOT / text).is_file()), None)
    return found
