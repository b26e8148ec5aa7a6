"""Answers a question in SQL about the results of a study: tables ``results``, ``details`` and ``samples``."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ..counts import counted
from ..refusal import Refused
from ..study import location
from . import announce, run_choice, study_options

if TYPE_CHECKING:
    import duckdb

#: {table: the file of the report that it is read from}
TABLES = {"results": "results.csv", "details": "details.csv", "samples": "samples.parquet"}
#: DuckDB's kinds of statements that answer something and change nothing; a pivot is a MULTI.
QUESTIONS = frozenset({"SELECT", "EXPLAIN", "MULTI"})
EXAMPLE = '"select workload, mode, speed_up from results"'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--folder", type=location.path_option, help="the folder with the report; the study's by default")
    run_choice.add_option(place)
    parser.add_argument("--csv", action="store_true", help="write CSV instead of a table")
    parser.add_argument("sql", nargs="?", default="", help=f"a question about the tables {', '.join(TABLES)}")


def run(options: argparse.Namespace) -> int:
    import duckdb

    _verify(options)
    folder = options.folder or _last_or_named(options)
    if not folder.is_dir() and options.folder is not None:
        raise Refused(f"--folder: {folder} is not a folder. Name one with {', '.join(TABLES.values())}.")
    with duckdb.connect() as database:
        for table, file in TABLES.items():
            path = folder / file
            if not path.is_file():
                raise Refused(f"{path} does not exist. Write it from the records: {_remedy(options)}")
            _load(database, table, path, _remedy(options))
        # A question may come from elsewhere: it reads the tables, and no other file.
        database.execute("set enable_external_access = false")
        database.execute("set lock_configuration = true")
        columns, rows = _answer(database, options.sql)
    announce(_csv(columns, rows) if options.csv else _table(columns, rows))
    return 0


def _verify(options: argparse.Namespace) -> None:
    """Raise Refused where there is no question, or a path in its place, as other commands take one."""
    sql = options.sql.strip()
    if not sql:
        raise Refused(f"Give a question, such as: nox -s query -- {EXAMPLE}")
    if not any(map(str.isspace, sql)) and ("/" in sql or Path(options.root, sql).is_dir()):
        raise Refused(
            f"{sql} is a path and no question. Name the folder of a run by --folder: nox -s query -- "
            f"--folder {shlex.quote(sql)} {EXAMPLE}"
        )


def _answer(database: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], list[tuple[object, ...]]]:
    """Return the columns and the rows of the answer. Raises Refused, also for a statement that changes the tables.

    They are copies, so nothing would be lost; but such a statement seemed to have done something.
    """
    import duckdb

    try:
        kinds = [statement.type.name for statement in database.extract_statements(sql)]
        if not kinds or not set(kinds) <= QUESTIONS:
            raise Refused(
                f"This cannot be answered, as it asks nothing of the tables. Give a question, such as: {EXAMPLE}"
            )
        answer = database.sql(sql)
        return (answer.columns, answer.fetchall()) if answer is not None else ([], [])
    except duckdb.Error as error:
        raise Refused(f"The question cannot be answered: {error}\nTables: {', '.join(TABLES)}.") from None


def _last_or_named(options: argparse.Namespace) -> Path:
    from ..storage import archive

    study = study_options.read_study(options)
    return run_choice.folder_in(archive.folder_of(options.root, study.settings.name), options)


def _remedy(options: argparse.Namespace) -> str:
    """Return the command that makes the report which was asked about."""
    given = [] if options.matrix is None else ["--matrix", str(options.matrix)]
    if options.run is not None:
        given += ["--run", options.run]
    elif options.folder is not None:
        given.append(str(options.folder))
    return f"nox -s report{f' -- {shlex.join(given)}' if given else ''}"


def _load(database: duckdb.DuckDBPyConnection, table: str, path: Path, remedy: str) -> None:
    import duckdb

    reader = "read_parquet" if path.suffix == ".parquet" else "read_csv"
    # A field without any value would be text, and a comparison with a number would fail.
    options = ", header = true, all_varchar = false" if reader == "read_csv" else ""
    try:
        quoted = str(path).replace("'", "''")
        database.execute(f"create table {table} as select * from {reader}('{quoted}'{options})")
    except duckdb.Error as error:
        raise Refused(f"{path} cannot be read ({error}). Write it again from the records: {remedy}") from None


def _table(columns: list[str], rows: list[tuple[object, ...]]) -> str:
    from tabulate import tabulate

    return f"{tabulate(rows, columns, floatfmt='.4g')}\n({counted(len(rows), 'row')})"


def _csv(columns: list[str], rows: list[tuple[object, ...]]) -> str:
    from ..reporting.renderers import csv

    fields = {name: (lambda row, index=index: row[index]) for index, name in enumerate(columns)}
    return csv.render(fields, rows).rstrip("\n")
