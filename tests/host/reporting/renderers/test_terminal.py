from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from bench.host.reporting import report
from bench.host.reporting.renderers import terminal
from bench.host.reporting.tables.table import LETTERS, Entry
from bench.host.reporting.words.files import PAGE, TABLES, name_files


def printed(study, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    report.make(study.records, study.manifest).print(console, details=True)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 140, 200])
def test_output_fits_the_terminal_and_keeps_every_status(short_study, width):
    text = printed(short_study, width)
    assert max(map(len, text.splitlines())) <= width
    assert len(re.findall(r"^PyTorch 2.15 compile ", text, re.MULTILINE)) == 3 + 3 + 1
    for status in ("timeout", "mismatch", "unsupported", "out-of-memory", "excluded", "not run"):
        assert status in text
    assert "…" not in text


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_ends_in_a_blank(short_study, width):
    assert [line for line in printed(short_study, width).splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize(("width", "lines"), [
    (90, ["Fastest on average: PyTorch 2.15 compile 1.30 or PyTorch 1.13 script 1.29 (unclear)."]),
    (80, ["Fastest on average: PyTorch 2.15 compile 1.30 or PyTorch 1.13",
          "script 1.29 (unclear)."]),
    # A third line for the sake of the second would be worse.
    (48, ["Fastest on average: PyTorch 2.15 compile 1.30 or", "PyTorch 1.13 script 1.29 (unclear)."]),
])  # fmt: skip
def test_no_word_stands_alone_in_the_last_line(width, lines):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    text = "Fastest on average: PyTorch 2.15 compile 1.30 or PyTorch 1.13 script 1.29 (unclear)."
    terminal.prose(console, Text(text))
    assert console.file.getvalue().splitlines() == lines


@pytest.mark.parametrize(("width", "lines"), [
    (75, ["Page: reports/small/report.html   Tables: table.md, summary.tex   --details"]),
    (74, ["Page: reports/small/report.html", "Tables: table.md, summary.tex   --details"]),
    (40, ["Page: reports/small/report.html", "Tables: table.md, summary.tex", "--details"]),
    # A path stays whole.
    (20, ["Page: reports/small/report.html", "Tables: table.md, summary.tex", "--details"]),
])  # fmt: skip
def test_the_line_of_files_is_broken_between_its_parts(width, lines):
    root = Path("/project")
    parts = name_files([root / "reports" / "small" / name for name in (PAGE, *TABLES)], root)
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=True)
    terminal.say_apart(console, parts)
    assert console.file.getvalue().splitlines() == lines


def test_in_a_file_the_line_of_files_is_one_line():
    console = Console(file=io.StringIO(), width=10, color_system=None)
    terminal.say_apart(console, ["Page: report.html", "Tables: table.md"])
    assert console.file.getvalue() == "Page: report.html   Tables: table.md\n"


def test_a_narrow_terminal_says_what_it_left_out(short_study):
    text = " ".join(printed(short_study, 80).split())
    assert "Not shown: interval, CPU, throughput, warm-up, spread, n (see table.md)." in text
    assert "Not shown: " not in printed(short_study, 160)


def test_settings_keep_their_words_on_a_narrow_terminal(long_study):
    lines = [line.split() for line in printed(long_study, 80).splitlines()]
    start = lines.index(["setting", "value", "columns"])
    assert lines[start + 2 : start + 4] == [
        ["instruction", "set", "AVX2", "PyTorch", "1.13"],
        ["AVX512", "PyTorch", "2.15;", "TensorFlow", "2.15;", "JAX", "2.15"],
    ]


def test_names_are_not_read_as_markup(short_study):
    short_study.run["planned"], short_study.run["excluded"] = [], []
    short_study.records = [
        replace(r, cell=replace(r.cell, workload=f"[red]{r.cell.workload}\x1b[31m")) for r in short_study.records
    ]
    text = printed(short_study, 160)
    assert "[red]mlp-train" in text
    assert "\x1b" not in text


@given(st.text(max_size=30))
def test_no_entry_can_steer_the_terminal(text):
    shown = terminal.entry(Entry(text), {}).plain
    assert all(character.isprintable() for character in shown)


def test_every_letter_has_a_superscript():
    assert len(LETTERS.translate(terminal.SUPERSCRIPT)) == len(LETTERS) == 25
    assert not set(LETTERS.translate(terminal.SUPERSCRIPT)) & set(LETTERS)
