"""Writes a report's parts of a paper, and compiles papers with them."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from bench.host.reporting import report
from bench.host.reporting.outputs import macros_latex, summary_latex

SBC = r"""\documentclass[12pt,a4paper]{article}
\usepackage[textwidth=15.9cm]{geometry}\usepackage{mathptmx}"""
STYLES = {
    "article": r"\documentclass[twocolumn]{article}",
    "IEEEtran": r"\documentclass[conference]{IEEEtran}",
    "acmart": r"\documentclass[sigconf,nonacm]{acmart}",
    "sbc": SBC,
}
PAPER = r"""STYLE
\usepackage{booktabs}\usepackage{siunitx}SIUNITX
\input{macros}
\begin{document}
\begin{table}\caption{Speed-ups}\centering
\input{summary}
\end{table}
TEXT
\end{document}
"""


def written(study, folder) -> str:
    made = report.make(study.records, study.manifest)
    summary_latex.write(made, folder)
    macros_latex.write(made, folder)
    return (folder / "summary.tex").read_text(encoding="ascii")


def macros_text(folder) -> str:
    return (folder / "macros.tex").read_text(encoding="ascii")


def macros_of(folder) -> dict[str, str]:
    text = macros_text(folder)
    found = re.findall(r"^\\newcommand\{\\(\w+)\}\{(.*)\} % [^\n]*$", text, re.M)
    assert len(found) == text.count("\\newcommand")
    return dict(found)


def compile_in(style: str, folder, text: str = "Text.", siunitx: str = "", *, wide: bool = False) -> str:
    """Compile a paper, assert that nothing leaves its column, and return what it shows."""
    if not shutil.which("pdflatex") or not shutil.which("pdftotext"):
        pytest.skip("pdflatex or pdftotext is not installed")
    if style in ("IEEEtran", "acmart"):
        found = subprocess.run(["kpsewhich", f"{style}.cls"], capture_output=True, check=False)
        if found.returncode:
            pytest.skip(f"{style}.cls is not installed")
    paper = PAPER.replace("STYLE", STYLES[style]).replace("TEXT", text).replace("SIUNITX", siunitx)
    (folder / "paper.tex").write_text(paper.replace("{table}", "{table*}") if wide else paper)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull \\hbox" not in (folder / "paper.log").read_text(errors="replace")
    command = ["pdftotext", "-layout", "paper.pdf", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=60).stdout.decode()
