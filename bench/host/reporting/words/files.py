"""Says where the files of a report are, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .language import _


def files_line(paths: Sequence[Path], root: Path) -> str:
    """Name the folder of the files, as seen from ``root``, and the first of them."""
    if not paths:
        return ""
    folder = paths[0].parent
    shown = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return _("Tables and data: {folder}/ ({names}, …)   --details prints all tables", folder=shown, names=_first(paths))


def _first(paths: Sequence[Path]) -> str:
    return ", ".join(path.name for path in paths[:3])
