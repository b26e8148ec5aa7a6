"""Tests that every word of a report comes from the catalogue: in the made-up language all of them are in brackets."""

from __future__ import annotations

import dataclasses
import io
import re
from pathlib import Path
from types import ModuleType

import pytest
from pseudo_language import escaped
from rich.console import Console

from bench.host.reporting import report
from bench.host.reporting.outputs import (
    details_csv,
    environments_json,
    machine_json,
    ranking_csv,
    table_latex,
    table_markdown,
)
from bench.host.reporting.tables import screen
from bench.host.reporting.words.language import writing_in
from bench.host.study.claim import Claim

#: Claims with every answer and every reason why one is open.
CLAIMS = (
    Claim(name="one", says="is better", source="paper", columns=("jax:*",), against=("torch1:*", "eager"), factor=">1"),
    Claim(name="two", says="between", columns=("tf2:*",), against=("*",), factor=">=1,<=2", quantity="memory"),
    Claim(name="three", says="reaches", columns=("*",), against=("torch1:eager",), factor=">=1.78", up_to=True),
    Claim(name="four", says="starts", columns=("*:compile",), quantity="warm-start", factor="<1"),
    Claim(name="five", says="nobody", unsettled="of another machine"),
    Claim(name="six", says="elsewhere", columns=("absent:*",), against=("*",), factor=">1"),
)
#: Commands, environments and names of labels, which LaTeX does not show.
LATEX = re.compile(r"\\(begin|end|label|setbox0|setlength)\b(\{[^}]*\}){0,2}|\\[a-zA-Z@]+|\[!tp\]")


def busy(study):
    """Let a study have something to say in every remark."""
    study.add_twin(factor=1.05)
    study.run["looks"] = [8, 10]
    study.run["strict"] = True
    study.run["profile"] |= {"samples": 3, "compile_cache": "kept"}
    study.run["machine"]["gpus"] = [{"name": "NVIDIA H100"}]
    study.run["peaks"] = {
        "torch1/cpu": {"flops_per_s": {"float32": 1e11}, "bandwidths": [[1e6, 2e10], [1e9, 1e10]]},
        "jax/cpu": {"reason": "failed in peaks: boom"},
    }
    fits = study.find("jax:jit", "mlp-train")
    known = {"item": "row", "cap_bytes": 2**31, "attempts": []}
    study.run["largest_batch"] = {fits.name: {**known, "items": 4096, "status": "ok", "reason": None}}
    rows = dict.fromkeys(cell.row for cell in study.cells)
    reasons = [(8, "settled"), (10, "most rounds"), (9, "budget")]
    study.run["stopped"] = {row: {"rounds": n, "why": why} for row, (n, why) in zip(rows, reasons, strict=True)}
    study.change(sample_wait_ns=lambda record: [0] * len(record.sample_ns))
    study.change(disturbed={"1": "jax:jit: 31%"})
    study.change("jax:jit", other_load=0.26, frequency_mhz=[1200.4, 3100.0])
    study.change("jax:jit", gpu_frequency_mhz=[1200.4, 1980.0], gpu_clock_limits={"power cap": 2})
    study.change("tf2:xla", "mlp-train", settings={"threads": 2, "instruction set": "AVX2"})
    return study


def data_of(study) -> set[object]:
    """Collect the names and texts that a report shows as they were given."""
    data: set[object] = {str(study.run["machine"]), study.run["profile"]["name"]}
    data |= {str(study.run.get(key)) for key in ("study", "peaks", "excluded", "environments")}
    for record in study.records:
        data |= set(dataclasses.astuple(record.cell))
        data |= {record.stage, record.reason, record.data, *record.disturbed.values()}
        data |= set(record.gpu_clock_limits)
        data |= {*record.settings, *record.settings.values(), *record.versions, *record.versions.values()}
    return data


def write(made: report.Report, folder: Path, *outputs: ModuleType) -> None:
    """Write a few files of a report, in its language."""
    folder.mkdir(exist_ok=True)
    with writing_in(made.language):
        for output in outputs:
            output.write(made, folder)


@pytest.fixture(params=["every status", "verdicts", "every remark", "no baseline"])
def study(request, short_study, long_study):
    if request.param == "no baseline":
        short_study.run["study"]["baseline"] = "absent:eager"
    if request.param == "every remark":
        return busy(long_study)
    return long_study if request.param == "verdicts" else short_study


def test_a_word_outside_of_the_brackets_is_found():
    assert escaped("⟦Noise: ⟧torch1:eager⟦ has ⟧3 rows", ["torch1:eager"]) == {"rows"}


def test_no_word_of_a_report_escapes_the_catalogue(tmp_path, pseudo, study):
    made = report.make(study.records, study.manifest, pseudo, claims=CLAIMS)
    write(made, tmp_path, table_markdown, table_latex)
    console = Console(file=io.StringIO(), width=80)
    made.print(console)
    made.print(console, details=True)
    latex = (tmp_path / "table.tex").read_text().partition(r"\begin{table*}")[2]
    texts = {
        # Where links lead is no word.
        "table.md": re.sub(r"</?(sup|br)>|\(#[^)]*\)", " ", (tmp_path / "table.md").read_text()),
        "table.tex": LATEX.sub(" ", latex.replace("{[}U+27E6]", "⟦").replace("{[}U+27E7]", "⟧")),
        "terminal": " ".join(console.file.getvalue().split()),
    }
    for name, text in texts.items():
        assert text.count("⟦") > 40
        given = data_of(study) | {str(claim) for claim in CLAIMS} | {screen.FILE}
        assert escaped(text, given) == set(), name


def test_files_for_programs_are_the_same_in_every_language(tmp_path, pseudo, study):
    for folder, language in (("english", None), ("pseudo", pseudo)):
        made = report.make(study.records, study.manifest, language)
        write(made, tmp_path / folder, details_csv, ranking_csv, machine_json, environments_json)
    for name in ("details.csv", "ranking.csv", "machine.json", "environments.json"):
        assert (tmp_path / "english" / name).read_bytes() == (tmp_path / "pseudo" / name).read_bytes()


def test_the_numbers_of_the_tables_are_the_same_in_every_language(pseudo, study):
    """But for the decimal sign."""
    english = report.make(study.records, study.manifest)
    other = report.make(study.records, study.manifest, pseudo)
    for ours, theirs in zip(english.tables, other.tables, strict=True):
        assert list(map(numbers, ours.rows)) == list(map(numbers, theirs.rows))


def numbers(row) -> list[list[str]]:
    return [re.findall(r"\d+(?:\.\d+)?", entry.text.replace(",", ".").replace(";", ".")) for entry in row]
