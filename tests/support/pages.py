"""Writes pages of studies, reads their data back, and gives studies hostile names."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from bench.host.reporting import report
from bench.host.reporting.outputs import page_html

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
#: Names that end an element, an attribute, a string or a script, in HTML, JSON, CSS, URLs and templates.
ATTACKS = (
    "</script><script>document.title='pwned'</script>", "<img src=x onerror=document.title='pwned'>", "<!--<script>",
    '"><svg onload=document.title="pwned">', "'); document.title='pwned'; ('", "${document.title='pwned'}", "@@DATA@@",
    "javascript:document.title='pwned'", "\u2028document.title='pwned'\u2029", "{baseline}{count}", "&lt;b&gt;", "a&b",
    "</style><style>*{display:none}", "]]>", "__proto__", "constructor", "=cmd()", "%3Cb%3E", "a,b=c&d#e/f", "\\u003c",
)  # fmt: skip
#: The elements that the page is made of.
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "article",
    "dialog", "noscript", "script", "h1", "h2", "h3", "p", "div", "span", "b", "i", "strong", "code", "dl",
    "dt", "dd", "ol", "ul", "li", "table", "thead", "tbody", "tfoot", "tr", "th", "td", "button", "label",
    "select", "option", "input", "details", "summary", "svg", "path", "rect", "line", "text",
}  # fmt: skip


def page_of(study, folder: Path) -> Path:
    (path,) = page_html.write(report.make(study.records, study.manifest), folder)
    return path


def long_page_of(study, folder: Path, copies: int) -> Path:
    """Write the page of a study whose workloads are there so many times, under numbered names."""
    made = report.make(study.records, study.manifest)
    results = tuple(
        replace(result, cell=replace(result.cell, workload=f"{result.cell.workload}-{number:03}"))
        for number in range(copies)
        for result in made.analysis.results
    )
    (path,) = page_html.write(replace(made, analysis=replace(made.analysis, results=results)), folder)
    return path


def data_of(path: Path) -> dict:
    (found,) = DATA.findall(path.read_text(encoding="utf-8"))
    return json.loads(found)


def cells_of(data: dict) -> dict[tuple[str, str], dict]:
    """Return the cells of the page by workload and column, with their texts in place of numbers."""
    texts = ("status", "stage", "reason", "grade", "verdict", "warmUp")
    found = {}
    for values in data["cells"]:
        cell = dict.fromkeys(data["fields"]) | dict(zip(data["fields"], values, strict=False))
        cell |= {name: data["texts"][cell[name]] for name in texts if cell[name] is not None}
        found[data["rows"][cell["row"]]["workload"], data["columns"][cell["column"]]["id"]] = cell
    return found


def rename(study, names: dict[str, str]) -> None:
    """Replace words of the study, wherever they stand in records and manifest."""
    text = json.dumps([[record.to_json() for record in study.records], study.run])
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    records, study.run = json.loads(text)
    study.records = [type(study.records[0]).from_json(record) for record in records]


def hostile(study, names: tuple[str, ...]) -> None:
    """Put names in place of every free text of a study."""
    words = [
        "dispatch",
        "mlp-train",
        "catdog-cnn-train",
        "small",
        "eager",
        "xla",
        "tf2",
        "AVX2",
        "instruction set",
        "step",
    ]
    rename(study, dict(zip(words, names, strict=False)))
    study.run["study"]["title"] = names[0]
    study.run["study"]["baseline"] = study.records[0].cell.column
    study.run["machine"] = {names[1]: names[2], "processor": names[3]}
    study.run["environments"] = {names[4]: {"requirements": [names[5]], "packages": {names[6]: names[7]}}}
    study.records = [
        replace(record, status="failed", stage=names[8], reason=names[9], sample_ns=[])
        if i % 7 == 3
        else replace(record, settings={names[10]: names[11]}, versions={**record.versions, names[12]: names[13]})
        for i, record in enumerate(study.records)
    ]
