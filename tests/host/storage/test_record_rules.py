"""Every value that a file of results holds has a rule, which is checked as the file is read."""

from __future__ import annotations

import dataclasses

import pytest

from bench.host.storage.manifest import NOT_STORED, Manifest, ProfileSummary, SpentSeconds, Stop, StudySummary
from bench.host.storage.manifest_schema import ProfileSchema, RunSchema, SecondsSchema, StopSchema, StudySchema
from bench.host.storage.record_schema import RecordSchema
from bench.record import Record


def names(part: type) -> set[str]:
    return {field.name for field in dataclasses.fields(part)}


def test_every_value_of_a_record_has_a_rule():
    assert {field.alias or name for name, field in RecordSchema.model_fields.items()} == names(Record)


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        (RunSchema, Manifest),
        (StudySchema, StudySummary),
        (ProfileSchema, ProfileSummary),
        (SecondsSchema, SpentSeconds),
        (StopSchema, Stop),
    ],
)
def test_every_value_of_a_run_has_a_rule(schema, part):
    assert set(schema.model_fields) == names(part) - NOT_STORED
