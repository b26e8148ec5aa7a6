"""Tests the history of runs: its order, and what it leaves out."""

from __future__ import annotations

import json
import shutil

import pytest
from run_summaries import summary

from bench.host.refusal import Refused
from bench.host.storage import run_history, run_summary
from bench.host.storage.run_summary import RunSummary


def test_a_history_is_read_in_the_order_of_time_and_says_what_it_left_out(tmp_path):
    later = summary("20261123-031700-abcdef")
    run_summary.write(tmp_path, RunSummary(later.facts.model_copy(update={"started": "2026-11-23"}), later.cells))
    run_summary.write(tmp_path, summary())
    (tmp_path / "zzz.jsonl").write_text("nothing")
    problems: list[str] = []
    found = list(run_history.read_folder(tmp_path, problems))
    assert [one.facts.started[:10] for one in found] == ["2026-11-22", "2026-11-23"]
    assert len(problems) == 1


def test_a_run_that_is_added_twice_is_there_once(tmp_path):
    run_summary.write(tmp_path, summary())
    run_summary.write(tmp_path, summary(cells=3))
    assert [len(one.cells) for one in run_history.read_folder(tmp_path, [])] == [3]


def history(folder, nights=4):
    for n in range(nights):
        run_summary.write(folder, summary(f"2026112{n}-031700-abcdef"))
    return folder


def names(folder, last=None):
    problems: list[str] = []
    return [one.facts.run[:8] for one in run_history.read_folder(folder, problems, last)], problems


@pytest.mark.parametrize("copy", ["copy.jsonl", "0.jsonl", "20261122-031700-abcdef (1).jsonl"])
def test_a_run_whose_file_was_copied_counts_once(tmp_path, copy):
    """A night that counted twice had a smaller spread than it has."""
    history(tmp_path)
    shutil.copy(tmp_path / "20261122-031700-abcdef.jsonl", tmp_path / copy)
    found, problems = names(tmp_path)
    assert found == ["20261120", "20261121", "20261122", "20261123"]
    assert problems == [
        f"{tmp_path / copy}: has the run 20261122-031700-abcdef, as 20261122-031700-abcdef.jsonl has, and a run counts "
        "once. Remove one of them."
    ]


def test_of_two_copies_without_the_original_the_first_counts(tmp_path):
    history(tmp_path)
    (tmp_path / "20261123-031700-abcdef.jsonl").rename(tmp_path / "a.jsonl")
    shutil.copy(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    found, problems = names(tmp_path)
    assert len(found) == 4
    assert [problem.partition(":")[0] for problem in problems] == [str(tmp_path / "b.jsonl")]


def test_a_copy_counts_where_the_original_is_damaged(tmp_path):
    history(tmp_path)
    path = tmp_path / "20261122-031700-abcdef.jsonl"
    shutil.copy(path, tmp_path / "copy.jsonl")
    path.write_text("<<<<<<<")
    found, problems = names(tmp_path)
    assert sorted(found) == ["20261120", "20261121", "20261122", "20261123"]
    assert len(problems) == 1


def test_the_last_runs_are_as_many_as_asked_for_beside_copies(tmp_path):
    history(tmp_path)
    shutil.copy(tmp_path / "20261120-031700-abcdef.jsonl", tmp_path / "copy.jsonl")
    assert names(tmp_path, 2)[0] == ["20261122", "20261123"]
    assert len(names(tmp_path, 2)[1]) == 1
    assert names(tmp_path, 9)[0] == ["20261120", "20261121", "20261122", "20261123"]


@pytest.mark.parametrize("run", ["a/b", "..", ""])
def test_a_file_with_a_run_that_no_file_can_be_named_after_is_read(tmp_path, run):
    path = run_summary.write(tmp_path, summary())
    first, *rest = path.read_text().splitlines()
    (tmp_path / "z.jsonl").write_text("\n".join([json.dumps({**json.loads(first), "run": run}), *rest]))
    found, problems = names(tmp_path)
    assert (found, problems) == (["20261122", run], [])


def test_a_run_of_no_date_is_left_out_and_not_added(tmp_path):
    history(tmp_path)
    path = tmp_path / "20261121-031700-abcdef.jsonl"
    path.write_text(path.read_text().replace("2026-11-22 03:17:00", "2026-13-29 03:17:00"))
    found, problems = names(tmp_path)
    assert found == ["20261120", "20261122", "20261123"]
    (said,) = problems
    assert said.startswith(
        f"{path}: \"started\" is '2026-13-29 03:17:00', which is no time. Correct it, for example to 20"
    )
    wrong = summary()
    wrong = RunSummary(wrong.facts.model_copy(update={"started": "2026-13-29"}), wrong.cells)
    with pytest.raises(
        Refused, match=r"The run.json of 20261122-031700-abcdef: \"started\" is '2026-13-29', which is no"
    ):
        run_history.add(tmp_path / "other", wrong)
    assert not (tmp_path / "other").exists()


def test_a_run_that_does_not_say_when_it_was_is_read(tmp_path):
    run = summary()
    run_summary.write(tmp_path, RunSummary(run.facts.model_copy(update={"started": ""}), run.cells))
    assert names(tmp_path) == (["20261122"], [])
