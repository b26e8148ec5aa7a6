"""Tests that trainings are kept as soon as they are done, continued, and read as data alone."""

from __future__ import annotations

import pytest
from trainings import FACTS, trained

from bench.host.analysis.training import analyse
from bench.host.refusal import Refused
from bench.host.reporting.words.training import trained_names
from bench.host.storage import lines, training_records
from bench.host.storage.manifest_schema import FrameworkNames
from bench.record import FAILED


def test_what_was_stored_is_read_back(tmp_path):
    training_records.begin(tmp_path, FACTS, fresh=False)
    training_records.append(tmp_path, [trained(seed=1), trained(seed=2)])
    assert training_records.read(tmp_path) == (FACTS, [trained(seed=1), trained(seed=2)])


def test_other_peoples_frameworks_have_their_names(tmp_path):
    facts = FACTS.model_copy(update={"frameworks": {"theirs": FrameworkNames("Theirs", "their-package")}})
    one = trained(versions={"their-package": "4.2"})
    one = one.model_copy(update={"cell": {**one.cell, "framework": "theirs"}})
    training_records.begin(tmp_path, facts, fresh=False)
    training_records.append(tmp_path, [one])
    found = training_records.read(tmp_path)
    assert found == (facts, [one])
    (row,) = analyse(*found)
    assert trained_names(row) == ["Theirs 4.2 eager"]


def test_a_continued_training_keeps_what_succeeded_and_replaces_what_failed(tmp_path):
    training_records.begin(tmp_path, FACTS, fresh=False)
    training_records.append(tmp_path, [trained(seed=1), trained(seed=2, status=FAILED, stage="measure", reason="no")])
    assert training_records.begin(tmp_path, FACTS, fresh=False) == [trained(seed=1)]
    training_records.append(tmp_path, [trained(seed=2)])
    found = training_records.read(tmp_path)
    assert found is not None
    assert [one.status for one in found[1]] == ["ok", "ok"]


def test_other_trainings_are_moved_to_the_history(tmp_path):
    training_records.begin(tmp_path, FACTS, fresh=False)
    training_records.append(tmp_path, [trained()])
    other = FACTS.model_copy(update={"identity": "another", "started": "2026-11-22 13:00:00"})
    assert training_records.begin(tmp_path, other, fresh=False) == []
    kept = training_records.read(tmp_path / "history" / "2026-11-22-12-00-00")
    assert kept == (FACTS, [trained()])
    assert training_records.read(tmp_path) == (other, [])


def test_starting_over_twice_in_a_second_keeps_both(tmp_path):
    for _ in range(3):
        training_records.begin(tmp_path, FACTS, fresh=True)
        training_records.append(tmp_path, [trained()])
    assert len(list((tmp_path / "history").iterdir())) == 2


def test_a_half_written_line_is_left_out(tmp_path):
    training_records.begin(tmp_path, FACTS, fresh=False)
    training_records.append(tmp_path, [trained()])
    file = tmp_path / training_records.FILE
    file.write_bytes(file.read_bytes() + lines.sealed(trained(seed=2).model_dump(mode="json")).encode()[:100])
    assert training_records.read(tmp_path) == (FACTS, [trained()])
    training_records.begin(tmp_path, FACTS, fresh=False)
    training_records.append(tmp_path, [trained(seed=2)])
    assert training_records.read(tmp_path) == (FACTS, [trained(), trained(seed=2)])


def test_a_file_of_which_no_line_can_be_read_is_moved_and_not_removed(tmp_path):
    training_records.begin(tmp_path, FACTS, fresh=False)
    training_records.append(tmp_path, [trained()])
    file = tmp_path / training_records.FILE
    file.write_bytes(edited := file.read_bytes().replace(b'"epochs"', b'"Epochs"'))
    assert training_records.begin(tmp_path, FACTS, fresh=False) == []
    assert (tmp_path / "history" / "unknown" / training_records.FILE).read_bytes() == edited


def test_a_file_of_a_newer_version_asks_for_an_update(tmp_path):
    newer = FACTS.model_copy(update={"schema_version": training_records.SCHEMA_VERSION + 1})
    training_records.begin(tmp_path, newer, fresh=False)
    training_records.append(tmp_path, [trained()])
    with pytest.raises(lines.NewerSchema, match=r"training\.jsonl:1: schema 2 .* update benchmatrix"):
        training_records.begin(tmp_path, FACTS, fresh=False)


@pytest.mark.parametrize(
    "changed", [{"epochs": [{"accuracy": 2.0}]}, {"status": "fine"}, {"cell": {"mode": "eager"}}, {"seed": -1}]
)
def test_a_line_that_is_no_training_is_refused_with_its_place(tmp_path, changed):
    training_records.begin(tmp_path, FACTS, fresh=False)
    lines.append(tmp_path / training_records.FILE, {**trained().model_dump(mode="json"), **changed}, sync=False)
    with pytest.raises(Refused, match=r"training\.jsonl:2: not a training"):
        training_records.read(tmp_path)
