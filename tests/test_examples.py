"""Tests that the examples' commands are commands that the program accepts."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bench.host.__main__ import parser

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*/*.yml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_options_of_every_example_are_accepted(path):
    folded = re.sub(
        r"run: >\n((?: {10,}.*\n)+)", lambda found: "run: " + " ".join(found[1].split()) + "\n", path.read_text()
    )
    commands = re.findall(r"run: python3 noxfile.py (.*)", folded)
    assert commands
    for command in commands:
        words = shlex.split(command)
        given = ["run", *words[words.index("--") + 1 :]]
        options = parser(given).parse_args(given)
        assert options.command == "run"
