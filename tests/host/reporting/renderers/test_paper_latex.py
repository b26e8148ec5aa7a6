"""Tests the tabular for a paper: what stands in it, and that it stays within a column of the common styles."""

from __future__ import annotations

import re
import shutil
import string
from dataclasses import replace

import pytest
from papers import STYLES, compile_in, macros_of, macros_text, written

from bench.host.reporting import report
from bench.host.reporting.tables.dispensability import best_of_versions
from bench.host.reporting.words.language import find, writing_in
from bench.host.statistics.verdict import Verdict

#: Of the commands of a cell.
KINDS = ("Time", "ExactTime", "Speedup", "ExactSpeedup", "Interval")
#: The marks of the table that a run ends with, as LaTeX has them.
SIGNS = {"*": "*", "≈": r"\approx", "~": r"\dagger", "^": r"\ddagger"}


def row(text: str, name: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"{name} &") and line.endswith(r"\\"))
    return [cell.strip() for cell in line.removesuffix(r"\\").split("&")[1:]]


def shaken(record) -> list[int]:
    """Return samples whose processes differ by a half."""
    return [n * (10 + 5 * (record.round % 2)) // 10 for n in record.sample_ns]


def plain(cell: str) -> str:
    text = re.sub(r"\\rlap\{\$.*?\$\}", "", cell).removeprefix(r"\bfseries ")
    return re.sub(r"\\textbf\{(.*?)\}", r"\1", text)


def test_framework_and_version_head_their_modes(tmp_path, long_study):
    text = written(long_study, tmp_path)
    assert r" & \multicolumn{2}{c}{PyTorch 1.13} & \multicolumn{2}{c}{PyTorch 2.15}" in text
    assert r"\cmidrule(lr){2-3}\cmidrule(lr){4-5}" in text
    assert r"\multicolumn{1}{c}{eager} & \multicolumn{1}{c}{script}" in text


def test_numbers_are_those_of_the_table_that_a_run_ends_with(tmp_path, long_study):
    text = written(long_study, tmp_path)
    shown = report.make(long_study.records, long_study.manifest).speed_up_table
    for line in shown.groups[0].rows[:2]:
        expected = [entry.text.rstrip("*≈~^").replace(" ", r"\,").replace("µ", r"$\mu$") for entry in line[1:]]
        cells = [plain(cell) for cell in row(text, line[0].text)]
        assert len(cells) >= 4
        assert expected[: len(cells)] == cells


def marks(cell: str) -> list[str]:
    """Return the signs that hang behind a number."""
    return re.findall(r"\*|\\[a-z]+", "".join(re.findall(r"\\rlap\{\$\^(.*?)\$\}", cell)))


def test_verdicts_have_marks_as_in_the_table_that_a_run_ends_with_and_a_legend(tmp_path, long_study):
    long_study.slow("torch1:torchscript", "mlp-train", 1.0)
    long_study.change("torch2:compile", "mlp-train", sample_ns=shaken)
    text = written(long_study, tmp_path)
    made = report.make(long_study.records, long_study.manifest)
    seen = set()
    for line in made.speed_up_table.groups[0].rows[:3]:
        expected = [[SIGNS[sign] for sign in re.sub(r"[^*≈~^]", "", entry.text)] for entry in line[1:]]
        cells = [marks(cell) for cell in row(text, line[0].text)]
        assert expected[: len(cells)] == cells
        seen |= {sign for cell in cells for sign in cell}
    assert seen >= {"*", r"\dagger"}
    assert r"% $^*$ different, certain at 1\% (" in text
    different = [verdict for verdict in made.analysis.results if verdict.verdict is Verdict.DIFFERENT]
    assert re.search(rf"certain at 1\\% \({len(different)} of \d+ comparisons\)", text)


def test_without_verdicts_nothing_explains_their_marks(tmp_path, long_study):
    long_study.records = [r for r in long_study.records if r.round < 3]
    text = written(long_study, tmp_path)
    assert "comparisons" not in text
    assert "*}" not in text


def test_the_best_of_a_row_is_bold_in_whatever_part_of_the_table_it_stands(tmp_path, long_study):
    long_study.slow("jax:jit", "mlp-train", 0.2)
    cells = row(written(long_study, tmp_path), "mlp-train")
    assert sum("bf" in cell for cell in cells) <= 1  # the best may stand in the second part
    long_study.slow("torch1:torchscript", "mlp-train", 0.01)
    cells = row(written(long_study, tmp_path), "mlp-train")
    assert ["bf" in cell for cell in cells[:4]] == [False, True, False, False]


def test_over_the_version_before_nothing_is_bold(tmp_path, long_study):
    """The greatest number of a row is then the largest step from a version to the next, and not the fastest version."""
    long_study.slow("torch2:eager", "mlp-train", 0.2)
    assert r"\bfseries" in written(long_study, tmp_path)
    long_study.run["study"]["baseline"] = "previous"
    text = written(long_study, tmp_path)
    assert r"\bfseries" not in text
    assert "Bold" not in text


def test_a_withheld_time_is_a_dash_and_has_no_command(tmp_path, long_study):
    written(long_study, tmp_path)
    assert "bmSpeedupMlpTrainTorchTwoEager" in macros_of(tmp_path)
    long_study.change("torch2:eager", "mlp-train", other_load=0.9)
    text = written(long_study, tmp_path)
    assert row(text, "mlp-train")[2] == "{--}"
    assert not any("MlpTrainTorchTwoEager" in name for name in macros_of(tmp_path))
    assert "% -{}-: withheld, other programs used the processors (1 of 24 cells)." in text
    comments = re.findall(r"^% withheld: \\(\w+) \(other programs were computing\)$", macros_text(tmp_path), re.M)
    assert comments == [f"bm{kind}MlpTrainTorchTwoEager" for kind in KINDS]


def test_caption_and_notes_are_comments_made_from_what_ran(tmp_path, long_study):
    comments = [line for line in written(long_study, tmp_path).splitlines() if line.startswith("%")]
    text = " ".join(line.lstrip("% ") for line in comments)
    for part in (
        "PyTorch 1.13 eager",
        "small, float32, cpu, 2 threads",
        "10 rounds",
        "AMD EPYC 7B13",
        r"95\%",
        "2026-",
    ):
        assert part in text
    assert "TensorFlow and JAX" not in text  # the title of the study


def test_a_small_speed_up_has_two_digits_within_a_column(tmp_path, long_study):
    long_study.slow("torch1:torchscript", "mlp-train", 200.0)
    long_study.slow("torch1:torchscript", "dispatch", 1 / 50.0)
    text = written(long_study, tmp_path)
    assert re.fullmatch(r"0\.00\d\d", plain(row(text, "mlp-train")[1]))
    assert re.fullmatch(r"\d\d", plain(row(text, "dispatch")[1]))
    assert "S[table-format=2.4]" in text
    assert not re.search(r"0\.00?[ *\\]", text)
    compile_in("article", tmp_path)


@pytest.mark.parametrize("style", STYLES)
def test_it_stays_within_a_column(tmp_path, long_study, style):
    long_study.change("jax:jit", "mlp-train", sample_ns=shaken)
    text = written(long_study, tmp_path)
    assert r"$^{*\dagger}$" in text
    assert r"]!{\hspace{0.4em}}" in text
    cited = r"\bmExactSpeedupMlpTrainJaxJit\ times as fast \bmIntervalMlpTrainJaxJit."
    shown = compile_in(style, tmp_path, f"It is {cited}")
    assert "PyTorch 2.15" in shown
    assert re.search(r"It is 1\.\d{2} times as fast \[1\.\d{2}, \d\.\d{2}\]", shown)


def test_the_numbers_of_a_column_are_aligned_by_old_versions_of_siunitx_as_well(tmp_path, long_study):
    text = written(long_study, tmp_path)
    assert re.search(r"\\begin\{tabular\}\{@\{\}lr(S\[table-format=1\.\d\]){3,}@", text)
    assert "PyTorch 2.15" in compile_in("article", tmp_path, siunitx="[=v2]")


def test_times_among_speed_ups_stay_within_a_column(tmp_path, long_study):
    long_study.run["study"]["baseline"] = "best"
    long_study.slow("jax:jit", "mlp-train", 3.0)
    assert re.search(r"& \{.*?\\,", written(long_study, tmp_path))
    compile_in("IEEEtran", tmp_path)


def test_another_decimal_sign_is_written_by_siunitx(tmp_path, long_study):
    with writing_in(find("pt_BR")):
        text = written(long_study, tmp_path)
    assert "output-decimal-marker={,}" in text
    assert re.search(r"\d,\d", compile_in("article", tmp_path))


@pytest.mark.parametrize("style", ["article", "acmart"])
def test_many_columns_stand_below_each_other(tmp_path, long_study, style):
    more = [replace(r, cell=replace(r.cell, environment=f"{r.cell.environment}-next")) for r in long_study.records]
    long_study.records += more
    long_study.run["planned"] = []
    text = written(long_study, tmp_path)
    assert text.count(r"\begin{tabular}") >= 2
    assert text.count(r"\textit{time}") == 1
    compile_in(style, tmp_path)


def large(study, sizes: int, environments: int = 2):
    """Give the study more sizes of ``dispatch`` and more environments."""
    of = [r for r in study.records if r.cell.workload == "dispatch"]
    study.records = [
        replace(r, cell=replace(r.cell, size=f"size{size}", environment=f"{r.cell.environment}{'-next' * more}"))
        for size in range(sizes)
        for more in range(environments)
        for r in of
    ]
    study.run["planned"] = []
    return study


def columns_of(text: str) -> list[int]:
    """Count the columns of every tabular by one of its rows."""
    return [line.count("&") for line in text.splitlines() if line.startswith("dispatch, size1 &")]


@pytest.mark.long
def test_a_stack_longer_than_a_page_becomes_the_best_column_of_each_version(tmp_path, long_study):
    text = written(large(long_study, 20), tmp_path)
    found = report.make(long_study.records, long_study.manifest).speed_ups
    best = best_of_versions(found, found.columns)
    assert sum(columns_of(text)) == len({found.baseline, *best}) < len(found.columns)
    comment = " ".join(line.lstrip("% ") for line in text.splitlines() if line.startswith("%"))
    (without,) = re.findall(r"No room for (.*); details.tex has all.", comment)
    assert re.split(", | and ", without) == [
        found.labels[column].short for column in found.columns if column not in {found.baseline, *best}
    ]
    assert "Bold: the best of a row, of all columns measured" in comment
    assert all(text.count(f"size{size} ") == len(columns_of(text)) for size in range(20))
    compile_in("IEEEtran", tmp_path)
    assert "Float too large" not in (tmp_path / "paper.log").read_text(errors="replace")


def test_a_large_study_of_one_version_has_its_modes(tmp_path, long_study):
    long_study.records = [r for r in long_study.records if r.cell.environment == "torch1"]
    text = written(large(long_study, 80, environments=1), tmp_path)
    assert columns_of(text)[0] == 2
    assert "script" in text


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("many")


@pytest.fixture
def many_rows(shared_folder, long_study):
    """The folder with the parts of a paper of a study of 80 rows, which are written once."""
    if not (shared_folder / "macros.tex").exists():
        written(large(long_study, 80), shared_folder)
    return shared_folder


@pytest.mark.long
@pytest.mark.parametrize("style", ["IEEEtran", "acmart", "sbc"])
def test_many_rows_stand_in_two_tables_side_by_side_on_one_page(tmp_path, many_rows, style):
    shutil.copytree(many_rows, tmp_path, dirs_exist_ok=True)
    text = (tmp_path / "summary.tex").read_text(encoding="ascii")
    assert text.startswith("% In a paper: ")
    assert "in a table*:" in text.splitlines()[0]
    left, right = text.split(r"\begin{tabular}[t]")[1:]
    assert all((f"size{size} " in left) == (size <= 40) for size in range(80))
    assert all((f"size{size} " in right) == (size > 40) for size in range(80))
    assert r"\textit{time}" in left
    assert r"\textit{time}" in right
    assert "geometric mean" in right.split(r"\end{tabular}")[0]
    compile_in(style, tmp_path, wide=True)
    log = (tmp_path / "paper.log").read_text(errors="replace")
    assert "Float too large" not in log
    assert "Overfull \\vbox" not in log


def test_200_hostile_names_compile_within_the_column_and_inject_nothing(tmp_path, long_study):
    signs = string.punctuation + "éµ中\u202e\n\x1b"
    names = [
        f"{signs[i % len(signs)]}{i}{signs[(7 * i) % len(signs)]}\\input{{x}}\n\\dangerous$&%#" for i in range(199)
    ]
    names.append("W" * 300)
    (model,) = {
        r.cell for r in long_study.records if r.cell.column == "torch1:eager" and r.cell.workload == "mlp-train"
    }
    records = [r for r in long_study.records if r.cell == model or r.cell == replace(model, mode="torchscript")]
    long_study.records = [replace(r, cell=replace(r.cell, workload=name)) for name in names for r in records[:4]]
    long_study.run["planned"] = []
    text = written(long_study, tmp_path)
    body = text.split(r"\midrule", 1)[1].split(r"\bottomrule")[0]
    assert r"\input" not in body
    assert r"\dangerous" not in text + (tmp_path / "macros.tex").read_text()
    assert (
        len(macros_of(tmp_path)) == len(names) * 7 + 2
    )  # two times and a speed-up, each exact as well, and an interval; the mean
    # A page holds no table of 200 rows.
    head, rest = text.split("\\midrule\n", 1)
    lines = rest.split("\\midrule\n")[0].splitlines()
    parts = ["\n".join(lines[first : first + 30]) for first in range(0, len(lines), 30)]
    tables = [f"{head}\\midrule\n{part}\n\\bottomrule\n\\end{{tabular}}\n\\endgroup\n" for part in parts]
    (tmp_path / "summary.tex").write_text("\\end{table}\n\\begin{table}\\centering\n".join(tables))
    compile_in("article", tmp_path)


def test_without_the_baseline_the_file_says_so(tmp_path, long_study):
    for workload in ("dispatch", "mlp-train", "catdog-cnn-train"):
        long_study.exclude("torch1:eager", workload, "left out")
    assert written(long_study, tmp_path).startswith("% There is no table: ")
    assert macros_of(tmp_path) == {}


def test_the_text_is_exact(tmp_path, long_study):
    long_study.records = [r for r in long_study.records if r.cell.environment == "torch1"]
    long_study.run["planned"] = []
    for column, numbers in {"torch1:torchscript": (13, 8), "torch1:eager": (14, 9)}.items():
        for workload in ("dispatch", "mlp-train")[column == "torch1:eager" :]:
            long_study.change(
                column,
                workload,
                sample_ns=lambda r, numbers=numbers: [n * numbers[r.round % 2] // 10 for n in r.sample_ns],
            )
    assert EXACT in written(long_study, tmp_path)


EXACT = r"""\toprule
 & \multicolumn{2}{c}{PyTorch 1.13} \\
\cmidrule(lr){2-3}
 & \multicolumn{1}{c}{eager} & \multicolumn{1}{c}{script} \\
 & \multicolumn{1}{c}{\textit{time}} & \multicolumn{1}{c}{\textit{speed-up}} \\
\midrule
dispatch & \textbf{19\,$\mu$s} & \bfseries 1.1\rlap{$^\dagger$} \\
mlp-train & 1.4\,ms\rlap{$^\dagger$} & \bfseries 1.2\rlap{$^*$} \\
catdog-cnn-train & 297\,ms & \bfseries 1.1\rlap{$^*$} \\
\midrule
geometric mean &  & 1.1 \\
\bottomrule
\end{tabular}
\endgroup
% \caption{"""
