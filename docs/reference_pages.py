"""Makes the reference pages of the documentation from the code, so that they cannot disagree with it."""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.host import commands  # noqa: E402
from bench.host.__main__ import parser  # noqa: E402
from bench.host.study import schema  # noqa: E402
from bench.host.study.claim import Claim  # noqa: E402
from bench.host.study.environment import Environment  # noqa: E402

#: The tables of a study file, in the order of the page.
TABLES = {
    "[study]": schema.Settings,
    "[environments.NAME]": Environment,
    "[workloads.NAME]": schema.WorkloadChoice,
    "[profiles.NAME]": schema.Profile,
    "[indexes]": schema.Indexes,
    "[[exclusions]]": schema.Exclusion,
    "[claims.NAME]": Claim,
}


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages; mkdocs calls this."""
    pages = {"commands": command_line(), "study-file": study_file()}
    for name, text in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def command_line() -> str:
    parts = [
        "# Command line\n",
        "`nox -s COMMAND -- OPTIONS` and `python3 -m bench.host COMMAND OPTIONS` do the same. "
        "[Exit codes](../ci.md#exit-codes) are on a page of their own.\n",
    ]
    for name, summary in commands.SUMMARIES.items():
        parts += [f"## {name}\n", f"{summary}\n", f"```\n{_help(name)}\n```\n"]
    return "\n".join(parts)


def _help(name: str) -> str:
    made = parser([name])
    chosen = next(action for action in made._actions if isinstance(action, argparse._SubParsersAction)).choices[name]
    chosen.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=100)
    return str(chosen.format_help()).partition("\n\n")[2].partition("\n\n")[2].rstrip() or "no options"


def study_file() -> str:
    parts = [
        "# Study file\n",
        "All keys of `matrix.toml`. A mistake is reported with its table, the value and the remedy.\n",
    ]
    for title, table in TABLES.items():
        parts += [f"## `{title}`\n", f"{inspect.getdoc(table)}\n", "| key | default | meaning |", "|---|---|---|"]
        for name, field in table.model_fields.items():
            if not field.description:
                continue
            default = "required" if field.is_required() else _code(field.default)
            parts.append(f"| `{field.alias or name}` | {default} | {_cell(field.description)} |")
        parts.append("")
    return "\n".join(parts)


def _code(value: object) -> str:
    return "" if value in (None, "", (), {}) else f"`{list(value) if isinstance(value, tuple) else value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
