"""Puts the page together: one HTML file with its style, its scripts and its data inside.

The browser runs nothing but these scripts: the page's content security policy names their hash. The data are JSON in
which no character can end their element, and the scripts put them into the page as text only.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
#: The scripts, each after those whose functions it uses.
SCRIPTS = (
    "data.js", "elements.js", "marks.js", "choice.js", "compare.js", "chart.js", "plot.js", "figures.js", "table.js",
    "details.js", "main.js",
)  # fmt: skip
#: Characters that mean something to HTML, or that end a line of JavaScript.
ESCAPES = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def assemble(content: Mapping[str, Any]) -> str:
    """Return the page that shows ``content``."""
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    script = "(() => {\n'use strict';\n" + "\n".join(map(_read_script, SCRIPTS)) + "})();\n"
    parts = {
        "LANGUAGE": str(content["language"]).replace("_", "-"),
        "STYLE_HASH": _hash(style),
        "SCRIPT_HASH": _hash(script),
        "STYLE": style,
        "DATA": escape(content),
        "SCRIPT": script,
    }
    template = (FOLDER / "page.html").read_text(encoding="utf-8").split("@@")
    # Every second piece is the name of a part. What a part holds is not searched for names again.
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(template))


def escape(content: Mapping[str, Any]) -> str:
    """Write JSON that HTML reads as text without any markup."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate, which JSON can carry, is no text that a file could hold.
    text = text.encode("utf-8", "replace").decode("utf-8")
    # One after the other: ``translate`` looks up every letter.
    for character, escaped in ESCAPES.items():
        text = text.replace(character, escaped)
    return text


def _read_script(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
