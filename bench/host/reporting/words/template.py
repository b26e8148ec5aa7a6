"""Collects the messages of reporting into ``languages/messages.pot``, and adds new ones to every catalogue.

``python -m bench.host.reporting.words.template`` renews the files. A new language begins as a copy of the template.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from babel.messages import pofile
from babel.messages.catalog import Catalog

from .language import FOLDER

SOURCE = FOLDER.parent
TEMPLATE = FOLDER / "messages.pot"
#: {function: how many of its first arguments are messages}
MESSAGES = {"_": 1, "word": 1, "ngettext": 2}


def collect() -> Catalog:
    """Collect the messages from the source of reporting, each with the files that it is in."""
    template = Catalog(project="benchmatrix", charset="utf-8")
    for file, message in _messages():
        template.add(message, locations=[(file, 0)])
    return template


def _messages() -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """Find the calls of the functions in ``MESSAGES``; Babel's own extraction overlooks those inside f-strings."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MESSAGES:
                texts = [_literal(argument, path) for argument in node.args[: MESSAGES[node.func.id]]]
                yield path.relative_to(SOURCE).as_posix(), texts[0] if len(texts) == 1 else tuple(texts)


def _literal(node: ast.expr, path: Path) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError(f"{path}:{node.lineno}: a message is a literal text, so that it can be collected and translated")


def renew() -> list[Path]:
    """Write the template, and add new messages to every catalogue; return the files."""
    template = collect()
    _write(TEMPLATE, template, omit_header=True)
    catalogues = sorted(FOLDER.glob("*.po"))
    for path in catalogues:
        with path.open("rb") as file:
            catalogue = pofile.read_po(file, locale=path.stem)
        # A message that has changed needs a new translation; gettext would guess one.
        catalogue.update(template, no_fuzzy_matching=True, update_creation_date=False)
        catalogue.obsolete.clear()
        _write(path, catalogue, omit_header=False)
    return [TEMPLATE, *catalogues]


def _write(path: Path, catalogue: Catalog, *, omit_header: bool) -> None:
    with path.open("wb") as file:
        pofile.write_po(file, catalogue, width=116, omit_header=omit_header, sort_by_file=True, include_lineno=False)


if __name__ == "__main__":
    for path in renew():
        print(path)
