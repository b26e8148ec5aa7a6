"""Says where the files of a report are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .language import _

#: What people open first: a page for a browser, and tables to read and to print.
PAGE = "report.html"
TABLES = ("table.md", "summary.tex")


def list_files(paths: Sequence[Path], root: Path) -> str:
    """Name files as seen from ``root``, those of several forms once."""
    places = [path.relative_to(root) if path.is_relative_to(root) else path for path in paths]
    folder = places[0].parent
    names = dict.fromkeys(
        str((place.with_suffix("") if place.parent != folder else place).relative_to(folder)) for place in places
    )
    return _("Files in {folder}: {names}", folder=folder, names=", ".join(names))


def name_files(paths: Sequence[Path], root: Path) -> list[str]:
    """Name the page and the tables among ``paths``, as seen from ``root``, and the option that shows more: a part each.

    The other files lie beside them.
    """
    places = {path.name: path for path in paths}
    tables = ", ".join(name for name in TABLES if name in places)
    if PAGE not in places or not tables:
        return []
    page = places[PAGE].relative_to(root) if places[PAGE].is_relative_to(root) else places[PAGE]
    return [_("Page: {page}", page=page), _("Tables: {tables}", tables=tables), "--details"]
