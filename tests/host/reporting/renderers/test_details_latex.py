"""Tests the table of all cells: its numbers, and that it compiles within the page in the common styles."""

from __future__ import annotations

import re
import shutil
import string
import subprocess
from dataclasses import replace

import pytest

from bench.host.analysis.quality import quality_of
from bench.host.reporting import report
from bench.host.reporting.outputs import details_latex
from bench.host.reporting.words.language import find, writing_in

STYLES = {
    "article": r"\documentclass[twocolumn]{article}",
    "one column": r"\documentclass{article}",
    "IEEEtran": r"\documentclass[conference]{IEEEtran}",
    "acmart": r"\documentclass[sigconf,nonacm]{acmart}",
    "sbc": r"\documentclass[12pt,a4paper]{article}\usepackage[textwidth=15.9cm]{geometry}\usepackage{mathptmx}",
}
PAPER = r"""STYLE
\usepackage{longtable,booktabs,siunitx}
\title{Paper}
\begin{document}
\maketitle
Before, see Table~\ref{tab:details}.
\input{details}
After.
\end{document}
"""


def written(study, folder, language=None) -> str:
    made = report.make(study.records, study.manifest, language)
    with writing_in(made.language):
        details_latex.write(made, folder)
    return (folder / "details.tex").read_text(encoding="ascii")


def compile_in(style: str, folder) -> str:
    """Compile a paper until its columns keep their widths, and return what it shows; nothing may leave the page."""
    if not shutil.which("pdflatex") or not shutil.which("pdftotext"):
        pytest.skip("pdflatex or pdftotext is not installed")
    for needed in (
        f"{style}.cls" if style in ("IEEEtran", "acmart") else "article.cls",
        "siunitx.sty",
        "longtable.sty",
    ):
        if subprocess.run(["kpsewhich", needed], capture_output=True, check=False).returncode:
            pytest.skip(f"{needed} is not installed")
    (folder / "paper.tex").write_text(PAPER.replace("STYLE", STYLES[style]))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    widths = None
    for _ in range(3):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=200)
        assert done.returncode == 0, done.stdout[-2000:]
        before, widths = widths, (folder / "paper.aux").read_bytes()
        if widths == before:
            break  # all that a further time would read is the same
    log = (folder / "paper.log").read_text(errors="replace")
    assert "Overfull" not in log
    command = ["pdftotext", "-layout", "paper.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=60).stdout.decode()


def lines_of(text: str, label: str) -> list[list[str]]:
    found = [line for line in text.splitlines() if line.startswith(f"{label} &")]
    return [[cell.strip() for cell in line.removesuffix(r"\\").split("&")] for line in found]


def test_every_cell_has_a_line_with_its_numbers(tmp_path, long_study):
    text = written(long_study, tmp_path)
    result = next(
        r
        for r in report.make(long_study.records, long_study.manifest).analysis.results
        if (r.cell.column, r.cell.workload) == ("torch2:eager", "mlp-train")
    )
    _name, time, low, high, cpu, throughput, first, memory, state = lines_of(text, "PyTorch 2.15 eager")[1]
    assert [float(low), float(time), float(high)] == pytest.approx(
        [1e3 * result.step.low, 1e3 * result.step.value, 1e3 * result.step.high], rel=0.01
    )
    assert float(cpu) == pytest.approx(1e3 * result.cpu_s, rel=0.01)
    assert float(throughput) == pytest.approx(result.throughput.value / 1e3, rel=0.05)
    assert (float(first), float(memory), state) == (0.04, 150, quality_of(result).value)
    assert r"\textbf{mlp-train} \textit{(times in ms, throughput in 10$^3$ rows/s)}" in text
    assert sum(len(lines_of(text, name)) for name in set(re.findall(r"^([A-Z][\w. ]+) &", text, re.M))) == 24


@pytest.mark.parametrize(
    ("rounds", "said"),
    [(10, ", the 95\\% interval of it,"), (3, ", the 95\\% interval of it,"), (1, "of a step, processor")],
)
def test_the_caption_gives_the_level_of_the_intervals(tmp_path, long_study, rounds, said):
    """Few processes have Student's interval, which is wider, not less certain; one has none."""
    long_study.records = [r for r in long_study.records if r.round < rounds]
    assert said in written(long_study, tmp_path)


def test_failures_have_a_status_and_no_number_and_withheld_times_none(tmp_path, long_study):
    long_study.end("jax:jit", "dispatch", "timeout", "first-call", "no answer in 300 s")
    long_study.change("torch2:eager", "dispatch", other_load=0.9)
    text = written(long_study, tmp_path)
    assert lines_of(text, "JAX 2.15 jit")[0][1:4] == ["{--}", "{--}", "{--}"]
    assert lines_of(text, "JAX 2.15 jit")[0][-1] == "timeout"
    withheld = lines_of(text, "PyTorch 2.15 eager")[0]
    assert withheld[1:7] == ["{--}"] * 6
    assert withheld[-1] == "disturbed"
    assert withheld[-2] == "150"  # other programs do not change its memory


@pytest.mark.parametrize(
    "style", [style if style == "article" else pytest.param(style, marks=pytest.mark.long) for style in STYLES]
)
def test_it_compiles_within_the_page(tmp_path, long_study, style):
    more = [replace(r, cell=replace(r.cell, size=f"s{i}")) for i in range(5) for r in long_study.records]
    long_study.records += [r for r in more if r.round < 3]
    long_study.run["planned"] = []
    written(long_study, tmp_path)
    shown = compile_in(style, tmp_path)
    assert "Before, see Table" in shown
    assert "After." in shown
    assert shown.count("PyTorch 2.15 compile") == 18
    assert shown.count("throughput in") >= 18


def test_numbers_have_the_decimal_sign_of_the_language(tmp_path, long_study):
    text = written(long_study, tmp_path, find("pt_BR"))
    assert "output-decimal-marker={,}" in text
    shown = compile_in("article", tmp_path)
    assert re.search(r"PyTorch 2.15 eager +\d+,\d+ +\d+,\d+ +\d+,\d+", shown)


@pytest.mark.long
def test_200_hostile_names_compile_within_the_page_and_inject_nothing(tmp_path, long_study):
    signs = string.punctuation + "éµ中\u202e\n\x1b"
    names = [
        f"{signs[i % len(signs)]}{i}{signs[(7 * i) % len(signs)]}\\input{{x}}\n\\dangerous$&%#" for i in range(199)
    ]
    names.append("W" * 300)
    records = [r for r in long_study.records if r.cell.column in ("torch1:eager", "jax:jit") and r.round < 2]
    records = [r for r in records if r.cell.workload == "mlp-train"]
    long_study.records = [
        replace(
            r,
            cell=replace(r.cell, workload=name, mode="eager" if r.cell.mode == "eager" else names[-1]),
            work={**r.work, "item": name},
            versions={},
        )
        for name in names
        for r in records
    ]
    long_study.run["planned"] = []
    text = written(long_study, tmp_path)
    assert r"\dangerous" not in text
    assert r"\input{x}" not in text
    compile_in("article", tmp_path)


def test_without_the_baseline_the_file_says_so(tmp_path, long_study):
    long_study.run["study"]["baseline"] = "torch9:eager"
    assert written(long_study, tmp_path).startswith("% There is no table: ")
