"""Defines the nox sessions of a project. The noxfile of a project needs no more than this:

from bench.host.sessions import define

define(__file__)
"""

from __future__ import annotations

import ast
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import nox
from nox.command import CommandFailed
from nox.logger import SUCCESS

from . import project, system
from .commands import SUMMARIES
from .refusal import harmless
from .study import family_names, location, session_names, session_summaries, version_ranges
from .system import EXIT_GATE, EXIT_MISUSE

#: The commands with a gate on slowdowns.
GATED = ("run", "history", "report", "compare", "series")
#: Commands with a session of their own name, which gives them its arguments; those of environments call the others.
PLAIN = tuple(name for name in SUMMARIES if name not in ("prepare", "run"))


def define(noxfile: str | Path) -> list[str]:
    """Define the sessions of the project in which ``noxfile`` lies: one per environment of its study, and the commands.

    Without a session named, nox runs those of the study's default environments; their names are returned.
    """
    system.verify()
    root = Path(noxfile).resolve().parent
    tables = _tables(root)
    environments, selected = _environments(tables)
    benched = list(dict.fromkeys([*environments, *(name for members in environments.values() for name in members)]))
    for name in session_names.asked(sys.argv):
        # Now, since nox would run the sessions before it.
        problem = session_names.problem(name, benched, ["measure", *PLAIN, *_names_in(Path(noxfile))])
        if problem is not None:
            _refuse(
                problem if tables else f"{problem} {root} has no {location.NAME}; the project may be another folder."
            )
    queued: list[str] = []
    says = session_summaries.summaries(tables.get("environments"), environments)
    for name in benched:
        _register(_bench_session(name, queued, says[name]), f"bench-{name}", default=True)
    _register(_measure_session(queued), "measure")
    for name in PLAIN:
        _register(_plain_session(name), name)
    nox.options.sessions = [f"bench-{name}" for name in selected]
    return selected


def run_host(session: nox.Session, *arguments: str) -> None:
    """Run a command of the host; when it refuses to start or its gate fails, nox ends with its exit code."""
    start = [str(project.PACKAGE / "host" / "__main__.py")] if _lies_elsewhere() else ["-m", "bench.host"]
    command = [python(session, "host"), *start, *arguments]
    try:
        # Ctrl-C reaches the host too, which then takes a moment to write a table of the results so far.
        session.run(*command, external=True, interrupt_timeout=60, terminate_timeout=10)
    except CommandFailed as failed:
        # An older nox does not give the code.
        code = getattr(failed, "return_code", None)
        if code == EXIT_MISUSE or (code == EXIT_GATE and arguments[0] in GATED):
            raise SystemExit(code) from None
        raise


def python(session: nox.Session, name: str) -> str:
    """Return the Python of the environment ``name``, ``host`` or ``dev``, made where it is missing.

    Where a wheel of benchmatrix is installed, its Python runs nox and the host.
    """
    if project.is_installed():
        return sys.executable
    # Imported only now: it needs interfaces that Windows lacks, where ``define`` says so first.
    from .setup import SetupError, ensure

    try:
        return str(ensure(name, project.PACKAGE.parent))
    except SetupError as error:
        session.error(str(error))


def _lies_elsewhere() -> bool:
    """Tell whether the package is in a checkout from which Python, started in this project, would not import it."""
    return not project.is_installed() and Path.cwd().resolve() != project.PACKAGE.parent


def _tables(root: Path) -> dict[str, Any]:
    """Read the study file as far as sessions depend on it; the host checks it in full.

    Without a study file there are the sessions that need none.
    """
    named = location.named_in(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])
    path = location.locate(named, root)
    if not location.is_named(named) and not path.exists():
        return {}
    try:
        # What is wrong with a range stops the host alone, so that its releases can still be looked up.
        return version_ranges.with_releases(location.read(path), root)[0]
    except location.StudyError as error:
        _refuse(str(error))


def _names_in(noxfile: Path) -> list[str]:
    """Return what a noxfile's own sessions may be called: its decorated functions, and what it gives as ``name``."""
    nodes = list(ast.walk(ast.parse(noxfile.read_text(encoding="utf-8"))))
    functions = [node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.decorator_list]
    given = [node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "name"]
    return functions + [str(value.value) for value in given if isinstance(value, ast.Constant)]


def _refuse(explanation: str) -> NoReturn:
    print(f"benchmatrix: {harmless(project.as_called(explanation))}", file=sys.stderr)
    raise SystemExit(EXIT_MISUSE)


def _environments(tables: dict[str, Any]) -> tuple[dict[str, list[str]], list[str]]:
    """Return {table: its environments} of a study, and the tables or environments that run when none is named."""
    named, study = tables.get("environments"), tables.get("study")
    # The host says what is wrong with another name, which may hold what steers a terminal.
    families = family_names.names(named) if isinstance(named, dict) else {}
    environments = {name: members for name, members in families.items() if session_names.is_valid(name)}
    known = {*environments, *(name for members in environments.values() for name in members)}
    default = study.get("default") if isinstance(study, dict) else None
    chosen = [name for name in default if name in known] if isinstance(default, list) else []
    return environments, chosen or list(environments)


def _register(action: Callable[[nox.Session], None], name: str, *, default: bool = False) -> None:
    nox.session(name=name, venv_backend="none", default=default)(action)


def _bench_session(environment: str, queued: list[str], says: str) -> Callable[[nox.Session], None]:
    def bench(session: nox.Session) -> None:
        logging.getLogger("nox").addFilter(_not_of_a_name)
        queued.append(environment)
        session.notify("measure", session.posargs)

    bench.__doc__ = says
    return bench


def _measure_session(queued: list[str]) -> Callable[[nox.Session], None]:
    def measure(session: nox.Session) -> None:
        """Build and measure the environments of the bench sessions that are named, side by side."""
        named = [text for environment in queued for text in ("--environment", environment)]
        try:
            run_host(session, "run", *named, *session.posargs)
        finally:
            _say_no_more()

    return measure


def _not_of_a_name(record: logging.LogRecord) -> bool:
    """Drop that a session was successful which only names what is measured."""
    return not (record.levelno == SUCCESS and record.getMessage().startswith("Session bench-"))


def _say_no_more() -> None:
    """Let nox tell of failures alone: that a session was successful would push the results off the screen."""
    logging.getLogger("nox").setLevel(logging.ERROR)


def _plain_session(name: str) -> Callable[[nox.Session], None]:
    def plain(session: nox.Session) -> None:
        run_host(session, name, *session.posargs)
        if session_names.asked(sys.argv) == [name]:
            _say_no_more()

    plain.__doc__ = SUMMARIES[name]
    return plain
