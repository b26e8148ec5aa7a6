"""Loads other people's outputs from their files, and says with file and line what is wrong with one."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from ...refusal import raised
from ...storage import archive, journal, lines, manifest, moves, training_records, worker_logs
from .output import Output

#: What lies in the folder of a run beside the files of its report: its records, and the folders of other runs.
OF_THE_RUN = frozenset(
    [
        journal.RECORDS, journal.RECORDS + lines.PACKED, journal.UNFINISHED, manifest.RUN, training_records.FILE,
        archive.HISTORY, archive.TRIAL, archive.TRAINING, moves.MOVING, moves.BISECTIONS, worker_logs.FOLDER,
    ]
)  # fmt: skip


def load(files: Iterable[Path], taken: Iterable[str]) -> tuple[list[Output], list[str]]:
    """Load the outputs of ``files``; return them, and a line for each that cannot be used.

    ``taken`` are the names of files that other outputs write.
    """
    outputs: list[Output] = []
    problems: list[str] = []
    names = set(taken)
    for file in files:
        try:
            module = _import(file)
        except (Exception, SystemExit) as error:  # the boundary to other people's code
            problems.append(describe_failure(file, error))
            continue
        missing = _missing(module, names)
        problems += [f"{file}: {text}" for text in missing]
        if not missing:
            outputs.append(Output.of(module))
            names.add(module.NAME)
    return outputs, problems


def _import(file: Path) -> ModuleType:
    name = f"benchmatrix output {file.resolve()}"
    specification = importlib.util.spec_from_file_location(name, file)
    if specification is None or specification.loader is None:
        raise ImportError("an output is a Python file, outputs/<name>.py")
    module = importlib.util.module_from_spec(specification)
    # Dataclasses look up the module that they are defined in.
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def _missing(module: ModuleType, taken: set[str]) -> list[str]:
    """Say what a module lacks to be an output."""
    problems = []
    name = getattr(module, "NAME", None)
    if not isinstance(name, str) or not name or Path(name).name != name:
        problems.append(f'NAME is {name!r}; give the name of the file that it writes, such as NAME = "figure.svg"')
    elif name in OF_THE_RUN:
        problems.append(f"NAME is {name!r}, which belongs to the run itself; choose another name")
    elif name in taken:
        problems.append(f"NAME is {name!r}, which another output writes; choose another name")
    if not callable(getattr(module, "write", None)):
        problems.append("there is no write(report, folder); it writes the file and returns a list with its path")
    return problems


def describe_failure(file: Path, error: BaseException) -> str:
    """Say at which line of an output what went wrong."""
    return raised(error, _file_and_line(file, error))


def _file_and_line(file: Path, error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == file]
    return f"{file}:{lines[-1]}" if lines else str(file)
