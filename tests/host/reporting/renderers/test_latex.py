from __future__ import annotations

import re
import shutil
import string
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.reporting import report
from bench.host.reporting.renderers import latex
from bench.host.reporting.renderers.latex_text import ACCENTS, SPECIAL, SYMBOLS, escape
from bench.host.reporting.words.language import ENGLISH, Language, find, writing_in
from bench.host.reporting.words.text import printable

ascii_texts = st.text(alphabet=string.printable, max_size=40)


def unescape(written: str) -> str:
    """Read what ``escape`` wrote of ASCII text, refusing whatever LaTeX would not show."""
    meanings = {command: character for character, command in SPECIAL.items()} | {"{}": ""}
    pattern = "|".join(re.escape(command) for command in sorted(meanings, key=len, reverse=True))
    plain = re.compile(r"[^\\{}$&#%_^~\[*<>|\"`']")
    read, position = "", 0
    while position < len(written):
        found = re.compile(pattern).match(written, position)
        if found:
            read += meanings[found.group()]
            position = found.end()
        else:
            assert plain.match(written, position), written[position:]
            read += written[position]
            position += 1
    return read


@given(ascii_texts)
def test_ascii_text_is_quoted_without_loss(text):
    assert unescape(escape(text)) == printable(text)


@given(st.text(max_size=40))
def test_any_text_is_written_in_ascii_with_balanced_braces(text):
    written = escape(text)
    assert written.isascii()
    depth = 0
    for character in re.sub(r"\\[{}]", "", written):
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a--b", "a-{}-b"),
        ("[1, 2]", "{[}1, 2]"),
        ("é", r"\'{e}"),
        ("e\u0301", r"\'{e}"),
        ("中", "{[}U+4E2D]"),
        ("3 × 12 µs", r"3 $\times$ 12 $\mu$s"),
    ],
)
def test_ligatures_arguments_and_other_scripts(text, written):
    assert escape(text) == written


def make_document(study, language: Language = ENGLISH) -> str:
    made = report.make(study.records, study.manifest, language)
    with writing_in(language):
        return latex.document(made.tables)


def compile_document(folder: Path, name: str) -> str:
    """Compile twice, for the references, and return what the pages show."""
    if not shutil.which("pdflatex") or not shutil.which("pdftotext"):
        pytest.skip("pdflatex or pdftotext is not installed")
    for _ in range(2):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
        assert done.returncode == 0, done.stdout[-2000:]
    log = (folder / f"{name}.log").read_text(errors="replace")
    assert "undefined" not in log
    assert "Overfull" not in log
    assert "too large" not in log
    command = ["pdftotext", "-layout", f"{name}.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=60).stdout.decode()


def test_file_compiles_by_itself(tmp_path, short_study):
    (tmp_path / "table.tex").write_text(make_document(short_study), encoding="ascii")
    text = compile_document(tmp_path, "table")
    for shown in ("PyTorch 2.15 compile", "timeout", "last words: [core] <dumped>", "AMD EPYC 7B13"):
        assert shown in text


def test_a_file_with_more_floats_than_latex_keeps_compiles_by_itself(tmp_path, short_study):
    table = report.make(short_study.records, short_study.manifest).main
    tables = [replace(table, name=f"{table.name}-{number}") for number in range(60)]
    (tmp_path / "table.tex").write_text(latex.document(tables), encoding="ascii")
    text = compile_document(tmp_path, "table")
    assert all(f"Table {number}:" in text for number in range(1, 61))


PAPER = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{lmodern,booktabs,graphicx}
\begin{document}
Before, see Table~\ref{tab:torch1-torch2-details}.
\input{table.tex}
After.
\end{document}
"""


def test_file_can_be_put_into_a_paper(tmp_path, short_study):
    (tmp_path / "table.tex").write_text(make_document(short_study), encoding="ascii")
    (tmp_path / "paper.tex").write_text(PAPER)
    text = compile_document(tmp_path, "paper")
    assert "see Table 4." in text
    assert "After." in text
    assert text.count("out-of-memory") >= 2


def test_file_in_another_language_compiles_and_shows_its_accents(tmp_path, short_study):
    (tmp_path / "table.tex").write_text(make_document(short_study, find("pt_BR")), encoding="ascii")
    (tmp_path / "paper.tex").write_text(PAPER)
    text = compile_document(tmp_path, "paper")
    for shown in (
        "tempo mediano de um passo",
        "razão em relação a PyTorch 1.13 eager",
        "não executado",
        "Piso de ruído",
    ):
        assert shown in text
    assert re.search(r"\d,\d", text)


def test_hostile_names_compile_and_show(tmp_path, long_study):
    name = f"{string.punctuation} {''.join(SYMBOLS)} {''.join('eu' + accent for accent in ACCENTS)} 中"
    hostile = [replace(record, data=f"*[{name}") for record in long_study.records]
    long_study.records = [replace(r, cell=replace(r.cell, workload=f"[{r.cell.workload}")) for r in hostile]
    long_study.run["planned"] = []
    long_study.run["study"]["title"] = name
    (tmp_path / "table.tex").write_text(make_document(long_study), encoding="ascii")
    text = compile_document(tmp_path, "table")
    assert "[mlp-train" in text
    assert "#$%&" in text
    assert "[U+4E2D]" in text


def test_wide_and_long_tables_stay_on_the_page(tmp_path, long_study):
    """Fourteen columns and twelve rows: LaTeX reports whatever is too wide or too high."""
    versions = [replace(r, cell=replace(r.cell, environment=f"{r.cell.environment}-next")) for r in long_study.records]
    sizes = [replace(r, cell=replace(r.cell, size=size)) for r in long_study.records + versions for size in ("a", "b")]
    long_study.records = [r for r in long_study.records + versions + sizes if r.cell.column != "jax-next:jit"]
    long_study.run["planned"] = []
    (tmp_path / "table.tex").write_text(make_document(long_study), encoding="ascii")
    text = compile_document(tmp_path, "table")
    assert "(continued, part 2)" in text
    assert len(re.findall("^ *tf2-next 2.15 xla", text, re.MULTILINE)) == 9 + 9 + 1
