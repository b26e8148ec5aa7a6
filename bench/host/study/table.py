"""Defines what all tables of a study file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StudyTable(BaseModel):
    """One table of a study file: immutable, with exact types and no other keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)
