"""Tests the commands that explore one run: cells by their speed-up, columns by their rank, both with filters."""

from __future__ import annotations

import json
import shutil

import pytest

from bench.host.__main__ import main
from bench.host.analysis.quality import Quality
from bench.host.analysis.run_analysis import analyse
from bench.host.commands import rank
from bench.host.storage import run_summary
from bench.host.storage.run_summary import CellSummary, RunFacts, RunSummary
from bench.record import FAILED

LEFT_OUT = ": 2 damaged lines were left out (records.jsonl:3, records.jsonl:5).\n"


@pytest.fixture
def stored(long_study, tmp_path):
    """Store the synthetic run, in which torch2:eager is half as fast again as it was, and one cell failed."""
    long_study.slow("torch2:eager", "mlp-train", 1.5)
    long_study.change("jax:jit", "dispatch", status=FAILED, stage="measure", reason="no memory")
    long_study.store(tmp_path)
    return tmp_path


def shown(stored, capsys, *arguments):
    assert main([arguments[0], str(stored), *arguments[1:]], root=stored) == 0
    return capsys.readouterr().out.splitlines()


def ratios(out):
    return [float(line.split()[0].rstrip("~^")) for line in out if line[:1].isdigit() and "[" in line]


def test_cells_are_shown_slowest_first(stored, capsys):
    out = shown(stored, capsys, "show")
    assert out[1] == "Speed-ups over torch1:eager, by pairs of processes; 2.0 is twice as fast."
    assert ratios(out) == sorted(ratios(out))
    slowed = next(line for line in out if "torch2:eager mlp-train" in line)
    assert ratios([slowed])[0] < 1.0
    assert out[-1] == "Without a time: 1 failed"
    assert max(map(len, out)) <= 90


def test_what_reports_withhold_is_neither_shown_nor_ranked(stored, long_study, capsys):
    """A report has a dash where other programs disturbed a time, and no ratio to it; these lists had both numbers."""
    long_study.change("torch2:compile", "mlp-train", other_load=0.9)
    long_study.change("torch1:eager", "catdog-cnn-train", other_load=0.9)
    long_study.store(stored)
    out = shown(stored, capsys, "show")
    assert out[-1] == "Without a time: 1 failed, 2 disturbed by other programs"
    assert not [line for line in out if "torch2:compile mlp-train" in line or "torch1:eager catdog-cnn-train" in line]
    over_disturbed = [line for line in out if line.endswith("catdog-cnn-train/small")]
    assert over_disturbed
    assert ratios(over_disturbed) == []
    out = shown(stored, capsys, "rank", "--mode", "eager,compile")
    assert out[1] == "cpu, 2 threads, 3 rows; speed-ups over torch2:eager:"
    assert out[-3] == "Not ranked, as too few rows would remain in common: torch1:eager, torch2:compile"


def test_a_number_has_the_mark_of_its_quality_as_in_tables(stored, long_study, capsys):
    """A table had `~` beside a ratio, and the list of the same run had nothing."""
    slower = {"sample_ns": lambda r: [ns * (1 + r.round % 2) for ns in r.sample_ns]}
    long_study.change("torch2:compile", "mlp-train", **slower)
    long_study.change("tf2:xla", "mlp-train", compilation={"recompiled_while_timing": 1})
    long_study.store(stored)
    out = shown(stored, capsys, "show", "--workload", "mlp-train")
    marked = {line.split()[-2]: line.split()[0][-1] for line in out if "mlp-train" in line}
    assert marked["torch2:compile"] == "~"
    assert marked["tf2:xla"] == "^"
    assert marked["jax:jit"].isdigit()
    legend = next(line for line in out if line.startswith("~"))
    analysis = analyse(long_study.records, long_study.manifest)
    grades = [one.quality for one in analysis.results if one.cell.workload == "mlp-train"]
    noisy, unsteady = grades.count(Quality.NOISY), grades.count(Quality.UNSTEADY)
    assert legend == f"~ noisy: a repeat may say otherwise ({noisy})   ^ unsteady: samples lie far apart ({unsteady})"


def test_filters_leave_the_cells_that_were_asked_for(stored, capsys):
    out = shown(stored, capsys, "show", "--slower-than", "1.2", "--workload", "mlp-*")
    assert all(value < 1 / 1.2 for value in ratios(out))
    assert ratios(out)
    assert all("mlp-train" in line for line in out[2:])
    assert "No cell is to be shown." in shown(stored, capsys, "show", "--slower-than", "100")
    names = [line.split()[-2:] for line in shown(stored, capsys, "show", "--sort", "name") if "mlp-train" in line]
    assert names == sorted(names)


def ranks(out):
    """Return the lines of a ranking, with the headings above and the legend below them left out."""
    return [line.split() for line in out if line.split()[-1].count(":") == 1 and line.split()[0][0] in "0123456789–"]


def test_columns_are_ranked_as_in_the_report(stored, capsys):
    """A column without a time in one of three rows took this row from all others, and medians ranked, not pairs."""
    out = shown(stored, capsys, "rank")
    assert out[1] == "cpu, 2 threads, 3 rows; speed-ups over torch1:eager:"
    found = ranks(out)
    assert [line[-1] for line in found][-1] == "jax:jit"
    assert found[-1][:3] == ["–", "–", "–"]
    means = [float(line[0]) for line in found[:-1]]
    assert means == sorted(means, reverse=True)
    assert sum(int(line[-2]) for line in found) == 3
    assert "[" in out[3]
    assert "Not ranked, as too few rows would remain in common: jax:jit" in out
    assert max(map(len, out)) <= 80


def test_chosen_columns_are_ranked_among_themselves(stored, capsys):
    out = shown(stored, capsys, "rank", "--environment", "jax", "--workload", "mlp-train")
    assert out[1] == "cpu, 2 threads, 1 row; speed-ups over jax:eager:"
    winner = ranks(out)[0]
    assert (winner[-1], winner[-3]) == ("jax:jit", "1.000")


def test_of_many_rows_that_are_left_out_three_are_named():
    rows = [f"w{number}/small/float32/cpu" for number in range(5)]
    three = "w0/small/float32/cpu, w1/small/float32/cpu, w2/small/float32/cpu"
    assert rank.names(rows[:3]) == three
    assert rank.names(rows) == f"{three}, 2 more"


def test_one_column_is_no_ranking(stored, capsys):
    assert (
        "No two columns have times in enough of these rows. Choose rows"
        in shown(stored, capsys, "rank", "--environment", "torch1", "--mode", "eager")[-1]
    )


@pytest.mark.parametrize("command", ["show", "rank", "compare", "series"])
def test_damaged_lines_are_told_once_for_each_run(stored, long_study, tmp_path_factory, capsys, command):
    path = stored / "records.jsonl"
    given = path.read_text().splitlines(keepends=True)
    given[2] = given[4] = "nonsense\n"
    path.write_text("".join(given))
    arguments = {"compare": [stored] * 2, "series": ["--folder", tmp_path_factory.mktemp("series"), "--add", stored]}
    assert main([command, *map(str, arguments.get(command, [stored]))], root=stored) == 0
    expected = f"{long_study.manifest.run}{LEFT_OUT}"
    said = capsys.readouterr()
    assert said.err == expected
    assert "damaged" not in said.out


def test_damaged_lines_are_told_of_the_run_that_has_them(stored, long_study, tmp_path, capsys):
    whole, run = shutil.copytree(stored, tmp_path / "whole"), long_study.manifest.run
    (stored / "records.jsonl").write_text("nonsense\n" + (stored / "records.jsonl").read_text())
    expected = f"{run}: 1 damaged line was left out (records.jsonl:1).\n"
    for runs in ((stored, whole), (whole, stored), (stored, stored / "whole" / "..")):
        assert main(["compare", *map(str, runs)], root=stored) == 0
        assert capsys.readouterr().err == expected
    (whole / "records.jsonl").write_text("nonsense\n" + (whole / "records.jsonl").read_text())
    assert main(["compare", str(stored), str(whole)], root=stored) == 0
    assert capsys.readouterr().err == expected * 2


def test_one_damaged_line_and_many_are_told(stored, long_study, capsys):
    path = stored / "records.jsonl"
    given = path.read_text()
    path.write_text("nonsense\n" + given)
    assert main(["show", str(stored)], root=stored) == 0
    run = long_study.manifest.run
    assert capsys.readouterr().err == f"{run}: 1 damaged line was left out (records.jsonl:1).\n"
    path.write_text("nonsense\n" * 7 + given)
    assert main(["show", str(stored)], root=stored) == 0
    assert "7 damaged lines were left out (records.jsonl:1, " in (err := capsys.readouterr().err)
    assert err.endswith("records.jsonl:5, …).\n")


def test_every_cell_of_a_large_run_is_shown(tmp_path, capsys):
    """A message is cut after 500 lines; so was what a command found, as in a study of every mode."""
    rows = [f"gemm/size{number}/float32/cpu" for number in range(700)]
    cells = tuple(CellSummary(column="here:eager", row=row, threads=1, step_s=[1e-3]) for row in rows)
    path = run_summary.write(tmp_path, RunSummary(RunFacts(run="20261122-031700-abcdef"), cells))
    assert main(["show", str(path)], root=tmp_path) == 0
    out = capsys.readouterr().out
    assert all(row.removesuffix("/float32/cpu") in out for row in rows)
    assert main(["compare", str(path), str(path), "--all"], root=tmp_path) == 0
    assert "more lines" not in capsys.readouterr().out


def test_names_of_a_stored_run_steer_no_terminal(tmp_path, capsys):
    cell = CellSummary(column="here:\x1b[2Jeager", row="gemm/\u202etiny", threads=1, step_s=[1e-3])
    path = run_summary.write(tmp_path, RunSummary(RunFacts(run="20261122-031700-abcdef"), (cell,)))
    for command in (["show", str(path)], ["rank", str(path)], ["compare", str(path), str(path)]):
        assert main(command, root=tmp_path) == 0
        said = capsys.readouterr()
        assert not {"\x1b", "\u202e"} & set(said.out + said.err)


@pytest.mark.parametrize(("where", "what"), [("machine", {"kernel": "x" * 200_000}), ("profile", {"workers": 5})])
def test_a_description_with_facts_of_another_form_is_refused_with_their_place(stored, capsys, where, what):
    path = stored / "run.json"
    described = json.loads(path.read_text())
    path.write_text(json.dumps({**described, where: {**described[where], **what}}))
    assert main(["show", str(stored)], root=stored) == 2
    said = capsys.readouterr().err
    assert f"{where}.{next(iter(what))}" in said
    assert "estore it from a copy" in said
