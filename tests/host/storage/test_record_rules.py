"""Every value that a file of results holds has a rule, which is checked as the file is read."""

from __future__ import annotations

import dataclasses
import json

import pytest

from bench.cell import Cell
from bench.host.storage.manifest import NOT_STORED, Manifest, ProfileSummary, SpentSeconds, Stop, StudySummary
from bench.host.storage.record_schema import RecordSchema
from bench.host.study.schema import Profile
from bench.host.workers.field_types import CellValues
from bench.record import Record


def names(part: type) -> set[str]:
    return {field.name for field in dataclasses.fields(part)}


def test_every_value_of_a_record_has_a_rule():
    assert {field.alias or name for name, field in RecordSchema.model_fields.items()} == names(Record)


def test_every_value_of_a_cell_has_a_rule():
    assert set(CellValues.model_fields) == names(Cell)


@pytest.mark.parametrize("name", sorted(names(Manifest) - NOT_STORED))
def test_every_value_of_a_run_has_a_rule(name):
    with pytest.raises(ValueError, match=rf"^{name}[.[:]"):
        Manifest.from_json({name: [{"": []}]})


@pytest.mark.parametrize(
    ("place", "part"), [("study", StudySummary), ("seconds", SpentSeconds), ("stopped", Stop)], ids=str
)
def test_every_value_of_a_part_of_a_run_has_a_rule(place, part):
    right = Manifest(stopped={"row": Stop(3, "settled")}).to_json()
    for name in names(part):
        values = json.loads(json.dumps(right))
        table = values[place]["row"] if part is Stop else values[place]
        assert name in table
        table[name] = [{}]
        with pytest.raises(ValueError, match=rf"^{place}\.(row\.)?{name}: "):
            Manifest.from_json(values)


@pytest.mark.parametrize("name", ProfileSummary.model_fields)
def test_every_value_of_a_profile_that_is_read_has_a_rule(name):
    with pytest.raises(ValueError, match=rf"^profile\.{name}: "):
        Manifest.from_json({"profile": {name: [{}]}})


def test_what_is_read_of_a_profile_is_a_key_of_one():
    assert set(ProfileSummary.model_fields) <= set(Profile.model_fields)


@pytest.mark.parametrize("name", ["", "a\nb", "\x1b[31m", "x" * 101, 3, None])
def test_the_name_of_a_framework_is_short_and_can_be_printed(name):
    for wrong in ({"product": name, "distribution": "toy"}, {"product": "Toy", "distribution": name}):
        with pytest.raises(ValueError, match=r"^frameworks\.toy\.(product|distribution): "):
            Manifest.from_json({"frameworks": {"toy": wrong}})
