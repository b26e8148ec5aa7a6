"""Tests the command that answers the claims of studies from runs, and the page that it writes."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from study_tables import TABLES, toml

from bench.host.__main__ import main

CLAIMS = {
    "jit": {
        "says": "jit is faster",
        "source": "a paper",
        "columns": ["*:jit"],
        "against": ["*:eager"],
        "workloads": ["*"],
        "factor": ">1",
    },
    "theirs": {"says": "5.54 steps per second", "unsettled": "their model is not described"},
}


@pytest.fixture
def project(long_study, tmp_path):
    """Store the synthetic run in a project whose study has no claims, beside one that has."""
    (tmp_path / "matrix.toml").write_text(toml({**TABLES, "claims": {}}))
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies/paper.toml").write_text(toml({**TABLES, "claims": CLAIMS}))
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        long_study.run["label"] = name
        long_study.store(folder)
    return tmp_path


def answered(project, capsys, *arguments: str) -> str:
    assert main(["claims", *arguments], root=project) == 0
    return capsys.readouterr().out


def test_the_claims_of_all_studies_are_answered_where_that_of_the_project_has_none(project, capsys):
    out = answered(project, capsys, str(project / "one"))
    assert "jit: jit is faster" in out
    # Four columns compute op by op; over the slowest of them the claim is still open.
    assert "their model is not described" in out


def test_a_run_is_named_as_other_commands_name_it(project, long_study, capsys):
    folder = project / "reports" / TABLES["study"]["name"]
    folder.mkdir(parents=True)
    long_study.run["label"] = "in the paper"
    long_study.store(folder)
    assert answered(project, capsys, "in the paper") == answered(project, capsys, str(folder)) != ""
    assert main(["claims", "in the papre"], root=project) == 2
    assert "unknown run 'in the papre'; did you mean 'in the paper'?" in capsys.readouterr().err


def test_damaged_lines_are_told_on_stderr_as_by_other_commands(project, long_study, capsys):
    path = project / "one/records.jsonl"
    path.write_text(f"nonsense\n{path.read_text()}nonsense\n")
    assert main(["claims", str(project / "one")], root=project) == 0
    said = capsys.readouterr()
    run = long_study.manifest.run
    lines_left_out = f"2 damaged lines were left out (records.jsonl:1, records.jsonl:{len(long_study.records) + 2})"
    assert said.err == f"{run} 'one': {lines_left_out}.\n"
    assert "records.jsonl" not in said.out
    assert main(["show", str(project / "one")], root=project) == 0
    assert capsys.readouterr().err == said.err


def test_a_claim_has_a_line_for_each_run_that_answers_it_and_one_where_nothing_can(project, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = answered(project, capsys, str(project / "one"), str(project / "two"), "--matrix", "studies/paper.toml")
    rows = [line.split("  ")[0] for line in out.splitlines() if line.startswith(("jit: ", "theirs: "))]
    assert rows == ["jit: jit is faster"] * 2 + ["theirs: 5.54 steps per second"]


def test_what_all_claims_have_in_common_is_said_once_above_the_table(project, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    again = {name: {**CLAIMS["jit"], "says": f"{name} is faster"} for name in ("jit", "again")}
    (project / "studies/paper.toml").write_text(toml({**TABLES, "claims": again}))
    out = answered(project, capsys, str(project / "one"), "--matrix", "studies/paper.toml")
    assert "The same for all: source: a paper; claimed: > 1; run: one." in " ".join(out.split())
    (heading,) = [line.split() for line in out.splitlines() if line.startswith("claim ")]
    assert heading == ["claim", "measured", "answer"]
    one = answered(project, capsys, str(project / "one"), str(project / "two"), "--matrix", "studies/paper.toml")
    (heading,) = [line.split() for line in one.splitlines() if line.startswith("claim ")]
    assert heading == ["claim", "measured", "run", "answer"]


def test_a_run_with_fewer_pairs_of_processes_is_left_out_whatever_it_answers(project, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    records = (project / "two/records.jsonl").read_text().splitlines(keepends=True)
    (project / "two/records.jsonl").write_text("".join(records[:72]))  # three rounds of 24 cells
    out = answered(project, capsys, str(project / "one"), str(project / "two"))
    assert [line.split()[-2] for line in out.splitlines() if line.startswith("jit: ")] == ["one"]
    # Both leave a claim open that takes more; one has ten pairs of processes, the other three.
    many = {f"c{number}": CLAIMS["jit"] | {"says": "jit is faster"} for number in range(9)}
    (project / "studies/paper.toml").write_text(toml({**TABLES, "claims": many}))
    out = answered(project, capsys, str(project / "one"), str(project / "two"))
    assert len([line for line in out.splitlines() if line.startswith("c0: ")]) == 1
    assert "run: one." in " ".join(out.split())


def test_runs_with_as_many_workloads_and_pairs_are_all_shown_whatever_they_answer(
    project, long_study, capsys, monkeypatch
):
    """Else the run that answers would hide the one that leaves the claim open."""
    monkeypatch.setenv("COLUMNS", "200")
    noise = np.random.default_rng(0)
    long_study.change(
        "jax:jit", sample_ns=lambda record: [round(ns * noise.uniform(0.2, 5)) for ns in record.sample_ns]
    )
    long_study.store(project / "two")
    out = answered(project, capsys, str(project / "one"), str(project / "two"))
    shown = [line.split()[-2:] for line in out.splitlines() if line.startswith("jit: ")]
    assert [run for run, _ in shown] == ["one", "two"]
    assert shown[0][1] == "supported"
    assert shown[1][1].startswith("open")


def test_of_runs_with_as_many_workloads_the_finished_ones_are_shown(project, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    run = json.loads((project / "one/run.json").read_text())
    (project / "one/run.json").write_text(json.dumps({**run, "finished": False}))
    out = answered(project, capsys, str(project / "one"), str(project / "two"))
    assert [line.split()[-2] for line in out.splitlines() if line.startswith("jit: ")] == ["two"]
    alone = answered(project, capsys, str(project / "one"))
    assert "one, unfinished" in alone


def test_the_table_replaces_the_one_in_a_page_and_nothing_else(project, capsys):
    page = project / "claims.md"
    page.write_text("# Claims\n\nabove\n\n<!-- claims: begin -->\nold\n<!-- claims: end -->\n\nbelow\n")
    answered(project, capsys, str(project / "one"), "--write", str(page))
    text = page.read_text()
    assert text.startswith("# Claims\n\nabove\n\n<!-- claims: begin -->\n")
    assert text.endswith("<!-- claims: end -->\n\nbelow\n")
    assert "| jit: jit is faster" in text
    assert "old" not in text
    again = text
    answered(project, capsys, str(project / "one"), "--write", str(page))
    assert page.read_text() == again


def test_what_stands_after_the_table_stays_where_the_page_names_the_marks_again(project, capsys):
    """Everything up to the last mark of an end was replaced."""
    page = project / "claims.md"
    after = "below\n\nWrite `<!-- claims: begin -->` and `<!-- claims: end -->` where the table shall be.\n"
    page.write_text(f"<!-- claims: begin -->\nold\n<!-- claims: end -->\n{after}")
    answered(project, capsys, str(project / "one"), "--write", str(page))
    assert page.read_text().endswith(f"<!-- claims: end -->\n{after}")
    assert "old" not in page.read_text()


def test_the_screen_names_the_page_that_has_the_columns_without_room_and_no_file_where_none_is_written(
    project, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    runs = str(project / "one"), str(project / "two")
    out = answered(project, capsys, *runs)
    assert out.splitlines()[-1] == "Not shown: source, run (a wider terminal shows more)."
    (project / "c.md").write_text("<!-- claims: begin -->\n<!-- claims: end -->\n")
    monkeypatch.chdir(project)
    assert "Not shown: source, run (see c.md)." in answered(project, capsys, *runs, "--write", "c.md").splitlines()


def test_a_page_without_a_place_for_the_table_is_left_as_it_is(project, capsys):
    page = project / "claims.md"
    page.write_text("# Claims\n")
    assert main(["claims", str(project / "one"), "--write", str(page)], root=project) == 2
    assert "has no place for the table: write <!-- claims: begin -->" in capsys.readouterr().err
    assert page.read_text() == "# Claims\n"


def test_a_page_that_has_no_end_is_refused_and_not_read(project, capsys):
    os.mkfifo(project / "claims.md")
    assert main(["claims", str(project / "one"), "--write", str(project / "claims.md")], root=project) == 2
    assert "claims.md is no page of Markdown: it is not a regular file" in capsys.readouterr().err


def test_a_page_and_a_study_that_are_no_text_are_refused_with_their_name(project, capsys):
    page = project / "claims.md"
    page.write_bytes(b"# R\xe9sultats\n<!-- claims: begin --><!-- claims: end -->\n")
    assert main(["claims", str(project / "one"), "--write", str(page)], root=project) == 2
    assert f"{page} is no page of Markdown" in capsys.readouterr().err
    (project / "studies/latin.toml").write_bytes(b"[claims.x]\nsays = 'd\xe9j\xe0'\n")
    assert main(["claims", str(project / "one")], root=project) == 2
    assert "latin.toml: cannot be read" in capsys.readouterr().err
    (project / "studies/latin.toml").write_bytes(b"# d\xe9j\xe0\n")
    assert main(["claims", str(project / "one")], root=project) == 0, "it has no claims"


def test_a_folder_without_a_run_and_a_study_without_claims_are_refused(project, capsys):
    assert main(["claims", str(project / "studies")], root=project) == 2
    assert "holds no run" in capsys.readouterr().err
    assert main(["claims", str(project / "one"), "--matrix", "matrix.toml"], root=project) == 2
    assert "matrix.toml has no claims. Add tables [claims.NAME]" in capsys.readouterr().err


def test_a_trial_settles_nothing(project, capsys):
    described = json.loads((project / "one/run.json").read_text())
    described["profile"]["trial"] = True
    (project / "one/run.json").write_text(json.dumps(described))
    assert main(["claims", str(project / "one")], root=project) == 2
    assert "its times mean nothing" in capsys.readouterr().err


def test_a_report_answers_the_claims_of_another_study(project, capsys):
    arguments = [str(project / "one"), "--claims", str(project / "studies/paper.toml")]
    assert main(["report", *arguments], root=project) == 0
    assert "jit: jit is faster" in capsys.readouterr().out
    assert "5.54 steps per second" in (project / "one/claims.md").read_text()
    assert main(["report", str(project / "one")], root=project) == 0
    assert not (project / "one/claims.md").exists()


def test_a_report_answers_the_claims_of_the_study_that_was_measured(project, capsys):
    """A plain report of such a run lost its claims without a word where the project has another study."""
    folder = project / "one"

    def measured(**names: str) -> None:
        described = json.loads((folder / "run.json").read_text())
        described["study"] |= names
        (folder / "run.json").write_text(json.dumps(described))
        assert main(["report", str(folder)], root=project) == 0

    (project / "studies/paper.toml").write_text(
        toml({**TABLES, "study": {**TABLES["study"], "name": "paper"}, "claims": CLAIMS})
    )
    measured(name="paper", file="studies/paper.toml")
    assert "jit: jit is faster" in capsys.readouterr().out
    assert (folder / "claims.md").exists()
    for other in ({"name": "older"}, {"name": "paper", "file": "studies/gone.toml"}, {"file": "../outside.toml"}):
        (project.parent / "outside.toml").write_text((project / "studies/paper.toml").read_text())
        measured(**other)
        assert not (folder / "claims.md").exists(), "the file has another study, is not there, or not in the project"
