"""Tests that 200 hostile names stay text in markdown, CSV and the terminal; LaTeX and the page have their own tests."""

from __future__ import annotations

import csv
import functools
import io
import unicodedata

import pytest
from markdown_it import MarkdownIt
from pages import ATTACKS, hostile
from rich.console import Console

from bench.host.reporting import report
from bench.host.reporting.outputs import details_csv, results_csv, table_markdown
from bench.host.reporting.words.text import printable

#: Markup of markdown and of rich, formulas of spreadsheets, and sequences that steer a terminal.
NAMES = (
    *ATTACKS, "[a](javascript:b)", "![a](b)", "<javascript:a>", "**a**", "`a`", "~~a~~", "a|b", "# a", "---", "[x]: y",
    "[bold red]", "[/]", "[link=x]a", ":tada:", "\x1b[31m", "\x1b]8;;x\x07", "\x9b2J", "\ra", "+1", "@a", "\t=a",
    "＝1", "-2+3",
)  # fmt: skip
ROUNDS = 10


@functools.cache
def _made(study_type, number):
    names = tuple(f"{NAMES[(20 * number + i) % len(NAMES)]}{number}.{i}" for i in range(20))
    study = study_type(10)
    hostile(study, names)
    return report.make(study.records, study.manifest), names


@pytest.fixture(params=range(ROUNDS))
def made(request, long_study):
    """A report of a study with 20 of 200 names, which several tests only read."""
    return _made(type(long_study), request.param)


def test_markdown_holds_text_in_tables_and_nothing_else(made, tmp_path):
    table_markdown.write(made[0], tmp_path)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse((tmp_path / "table.md").read_text())
    inline = [child for token in tokens if token.type == "inline" for child in token.children]
    # Links lead to the tables, which no name of a user's gives a title.
    links = {one.attrs["href"] for one in inline if one.type == "link_open"}
    assert len(links) == len(made[0].tables)
    assert links <= {
        f"#{name}" for name in ("speed-ups", "settings-that-differ", "times", "details", "costs", "ranking")
    }
    inline = [one for one in inline if not one.type.startswith("link_")]
    assert {one.type for one in inline} <= {"text", "text_special", "html_inline", "softbreak", "hardbreak"}
    # Marks of footnotes, and line ends between the notes.
    assert {one.content for one in inline if one.type == "html_inline"} <= {"<sup>", "</sup>", "<br>"}
    kinds = {token.type for token in tokens}
    assert not {
        kind for kind in kinds if kind.startswith(("html", "code", "fence", "hr", "blockquote", "bullet", "ordered"))
    }


@pytest.mark.parametrize("output", [results_csv, details_csv])
def test_csv_has_a_row_for_each_cell_and_no_formula(made, output, tmp_path):
    (path,) = output.write(made[0], tmp_path)
    with path.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    analysis = made[0].analysis
    twins = analysis.twins if output is details_csv else ()
    assert len(rows) == len(analysis.results) + len(twins)
    assert {len(row) for row in rows} == {len(heading)}
    texts = [field for row in rows for field in row if not is_number(field)]
    assert not [text for text in texts if text.startswith(("=", "+", "-", "@", "\t", "＝"))]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_the_terminal_shows_names_as_they_are_and_obeys_none(made):
    output = io.StringIO()
    made[0].print(Console(file=output, width=2000), details=True)
    shown = output.getvalue()
    assert not {one for one in shown if unicodedata.category(one)[0] == "C"} - {"\n", "\ufffd"}
    # The names of the three workloads.
    for name in made[1][:3]:
        assert printable(name) in shown
