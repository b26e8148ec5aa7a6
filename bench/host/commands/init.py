"""Writes a small project that can be run: a noxfile, a study, and a workload of its own as an example.

It needs the standard library alone, so that a checkout can do it before anything is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from .. import project
from ..refusal import Refused
from ..setup.staging import write_whole
from ..study import location
from . import announce

NOXFILE = "noxfile.py"
#: Files of the skeleton that are called otherwise there.
RENAMED = {"gitignore": ".gitignore"}
#: What stands for the interpreter in the skeleton's study.
INTERPRETER = '"python3"'
#: Precedes the noxfile's own lines where benchmatrix is a checkout: it is imported from there, and brings its own nox.
FROM_CHECKOUT = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / {checkout}))

if __name__ == "__main__":
    from bench.host import system

    system.verify()
    from bench.host.setup import run_nox

    run_nox(Path(__file__), sys.argv[1:])
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        nargs="?",
        type=location.path_option,
        default=Path(),
        help="the folder of the project; the current one by default",
    )
    parser.add_argument(
        "--default-study",
        action="store_true",
        help="write the study that comes with benchmatrix instead of a small one",
    )


def run(options: argparse.Namespace) -> int:
    folder: Path = (options.root / options.folder).resolve()
    if project.is_checkout(folder):
        raise Refused(f"{folder} is a checkout of benchmatrix, which is a project already. Name another folder.")
    for name, text in files(folder, default_study=options.default_study):
        path = folder / name
        if path.exists():
            announce(f"kept     {path}")
            continue
        # Half a file, as of a full disk, would be kept the next time.
        write_whole(path, text)
        announce(f"written  {path}")
    announce(_next_step(folder, default_study=options.default_study))
    return 0


def files(folder: Path, *, default_study: bool) -> Iterator[tuple[str, str]]:
    """Give (name, text) of each file of a new project in ``folder``."""
    skeleton = project.data("skeleton")
    for path in sorted(skeleton.rglob("*")):
        name = path.relative_to(skeleton).as_posix()
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        if default_study and name.startswith("workloads/"):
            continue  # the example belongs to the small study
        text = path.read_text(encoding="utf-8")
        if name == NOXFILE:
            text = _noxfile(text, folder)
        elif name == location.NAME:
            text = (
                project.data(location.NAME).read_text(encoding="utf-8")
                if default_study
                else text.replace(INTERPRETER, _quoted(sys.executable))
            )
        yield RENAMED.get(name, name), text
    if default_study:
        yield from _preloaded()


def _preloaded() -> Iterator[tuple[str, str]]:
    """Give the sources of libraries that environments of the default study preload."""
    environments = location.read(project.data(location.NAME))["environments"].values()
    for name in dict.fromkeys(path for table in environments for path in table.get("preload", ())):
        yield name, project.data(name).read_text(encoding="utf-8")


def _noxfile(text: str, folder: Path) -> str:
    if project.is_installed():
        return text
    checkout = project.PACKAGE.parent
    # A checkout inside the project, such as a submodule, moves with it.
    path = os.path.relpath(checkout, folder) if checkout.is_relative_to(folder) else str(checkout)
    docstring, _, rest = text.partition("\n")
    return docstring + "\n" + FROM_CHECKOUT.format(checkout=_quoted(path)) + rest


def _quoted(path: str) -> str:
    """Write a path as a text that TOML and Python read alike. Raises Refused for one that no text can hold."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise Refused(f"{path!r} is not in UTF-8, so no file can name it. Rename the folder, or move it.") from None
    # JSON would write what lies outside of 16 bits as two halves, which neither of them takes for a character.
    return json.dumps(path, ensure_ascii=False).replace("\x7f", "\\u007f")


def _next_step(folder: Path, *, default_study: bool) -> str:
    command = f"{Path(sys.executable).name} " + ("-m nox" if project.is_installed() else NOXFILE)
    first, shows = (
        ("", "measures the default study and writes reports/")
        if default_study
        else ("-s bench-here bench-numpy1", "a first result: this Python's NumPy beside NumPy 1")
    )
    measuring, listing = f"{command} {first}".rstrip(), f"{command} -l"
    width = max(len(measuring), len(listing))
    lines = [
        "",
        "Next:",
        f"  cd {shlex.quote(str(folder))}",
        f"  {measuring:{width}}   {shows}",
        f"  {listing:{width}}   lists the sessions",
    ]
    if importlib.util.find_spec("numpy") is None:
        lines.append(f"{sys.executable} has no NumPy: name an interpreter that has it in {location.NAME}.")
    return "\n".join(lines)
