"""Writes the JSON Schema of study files, by which editors complete and check them."""

from __future__ import annotations

import argparse

from .. import project
from . import announce


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command has no options."""


def run(options: argparse.Namespace) -> int:
    from ..study import json_schema

    # A checkout keeps it in the package, whose files are not to be changed where a wheel was installed.
    in_package = project.is_checkout(options.root)
    announce(str(json_schema.write() if in_package else json_schema.write(options.root / json_schema.SCHEMA_PATH.name)))
    return 0
