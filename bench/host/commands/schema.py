"""Writes the JSON Schema of study files, by which editors complete and check them."""

from __future__ import annotations

import argparse

from ..study import location
from . import announce


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)


def run(options: argparse.Namespace) -> int:
    from ..study import json_schema, sources

    path = location.locate(options.matrix, options.root)
    # A study file with errors gets its schema, too, as far as its sources are found.
    registry, _ = sources.find(location.read(path).get("study"), path.parent)
    announce(str(json_schema.write(path, registry)))
    return 0
