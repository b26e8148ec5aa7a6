from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bench.host.reporting import report
from bench.host.reporting.renderers import markdown
from bench.host.reporting.tables.table import Column, Entry, Group, Table
from bench.host.reporting.words.text import printable

parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
texts = st.text(alphabet=st.one_of(st.sampled_from("\\`*_{}[]<>()#+-.!|~&;:=$1a \n"), st.characters()), max_size=30)


def shown(tokens) -> list[str]:
    """Return the text of every inline element, refusing anything but text in it."""
    inline = [token for token in tokens if token.type == "inline"]
    kinds = {child.type for token in inline for child in token.children}
    assert kinds <= {"text", "text_special"}, kinds
    return ["".join(child.content for child in token.children) for token in inline]


def one_cell(text: str) -> Table:
    entries = ((Entry(text), Entry("x")),)
    return Table("t", "Title", "", (Column("a", "left"), Column("b", "left")), (Group(Entry(""), ("", ""), entries),))


@given(texts)
@example("a|b")
@example("[a](b) ![c](d)")
@example("&lt;&#35; <b> *x* __y__ ~~z~~ `c`")
def test_an_entry_shows_as_it_is(text):
    tokens = parser.parse(markdown.render(one_cell(text)))
    assert shown(tokens) == ["Title", "a", "b", printable(text), "x"]


@given(texts)
@example("# a")
@example("1. a")
@example("12) a")
@example("---")
@example("> a")
@example("[a]: b")
@example("+ a")
@example("===")
def test_a_line_shows_as_it_is(text):
    tokens = parser.parse("before\n\n" + markdown.escape_line(text))
    assert shown(tokens) == ["before", *([printable(text)] if printable(text) else [])]
    assert {token.type for token in tokens} == {"paragraph_open", "inline", "paragraph_close"}


@pytest.mark.parametrize(
    ("text", "written"), [("$x$", r"\$x\$"), (":tada:", r"\:tada:"), ("torch2:compile", "torch2:compile")]
)
def test_formulas_and_emoji_of_github_are_quoted(text, written):
    assert markdown.escape(text) == written


@pytest.mark.parametrize("text", ["19.53 [19.1, 20.0] ≈", "torch_geometric", "out-of-memory", "3×12"])
def test_what_is_common_stays_readable_in_the_source(text):
    assert markdown.escape(text) == text


def test_every_footnote_mark_has_its_note(short_study):
    made = report.make(short_study.records, short_study.manifest)
    for table in made.tables:
        text = markdown.render(table)
        marks = {mark for found in re.findall(r"<sup>([a-z,]+)</sup>", text) for mark in found.split(",")}
        assert marks == set(re.findall(r"^<sup>([a-z]+)</sup> ", text, re.MULTILINE))
    assert len(made.summary.marks) >= 8
    assert len(made.details.marks) >= 8


def test_what_a_table_shows_stands_above_its_rows(long_study):
    made = report.make(long_study.records, long_study.manifest)
    lines = markdown.render(made.speed_up_table).splitlines()
    first_row = next(number for number, line in enumerate(lines) if line.startswith("| "))
    assert made.speed_up_table.sentences
    assert all(lines.index(markdown.escape_line(said)) < first_row for said in made.speed_up_table.sentences)
    assert all(lines.index(markdown.escape_line(said)) > first_row for said in made.speed_up_table.remarks)


def test_a_large_page_has_no_blanks_beside_its_bars_and_the_same_tables(long_study, monkeypatch):
    made = report.make(long_study.records, long_study.manifest)
    wide = markdown.document(made.title, made.tables)
    monkeypatch.setattr(markdown, "LARGEST", 1000)
    narrow = markdown.document(made.title, made.tables)
    assert len(narrow) < 0.8 * len(wide)
    assert parser.render(narrow) == parser.render(wide)


def test_tables_have_as_many_rows_as_cells(long_study):
    made = report.make(long_study.records, long_study.manifest)
    html = parser.render(markdown.document(made.title, (made.summary, made.details)))
    workloads = len(long_study.manifest.planned) // 8
    assert html.count("<tr>") == 1 + workloads + workloads * (1 + 8)


def test_a_page_begins_with_links_to_its_tables(long_study):
    made = report.make(long_study.records, long_study.manifest)
    text = markdown.document(made.title, made.tables)
    links = re.findall(r"\[([^]]+)\]\(#([^)]+)\)", text.splitlines()[2])
    assert len({name for _title, name in links}) == len(links)
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert [title for title, _name in links] == headings
    assert ("Settings that differ", "settings-that-differ") in links


def test_headings_of_the_same_name_are_numbered_as_github_does():
    assert markdown.anchors(["# Times\n", "## Costs\n### times\n", "## Times\n", "## What, not?\n"]) == [
        "times",
        "costs",
        "times-2",
        "what-not",
    ]
