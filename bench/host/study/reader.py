"""Reads the tables of a study file one by one, so that an error in one does not hide errors in another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from bench.registry import Registry

from . import families
from .claim import Claim
from .draft import Draft
from .environment import Environment
from .rules import place_of
from .schema import Exclusion, Indexes, Profile, Settings, Study, WorkloadChoice
from .suggestion import LONGEST, shown, unknown
from .table import StudyTable
from .values import Known

#: The sections that hold named tables, what they hold, and a name for an example.
NAMED_SECTIONS: dict[str, tuple[type[StudyTable], str]] = {
    "environments": (Environment, "torch2"),
    "workloads": (WorkloadChoice, "mlp-train"),
    "profiles": (Profile, "quick"),
    "claims": (Claim, "compiled-is-faster"),
}
#: Those that may be missing.
OPTIONAL = ("claims",)
SECTIONS = ("study", "environments", "workloads", "profiles", "indexes", "exclusions", "claims")

StudyTableType = TypeVar("StudyTableType", bound=StudyTable)


@dataclass(frozen=True)
class ReadTable:
    """One table that was read: its valid values, and the table itself where all of them are valid."""

    name: str
    values: dict[str, Any]
    table: StudyTable | None


class Reader:
    """Reads the sections of one file and collects what is wrong with them."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._known = Known(registry)
        #: The problems of each place, in the order of the file's sections; empty where there is none.
        self.problems: dict[str, list[str]] = {}
        self._read_tables: dict[str, list[ReadTable]] = {}

    def report(self, place: str, problem: str) -> None:
        self.problems.setdefault(place, []).append(problem)

    def read(self, tables: Mapping[str, Any]) -> Draft:
        """Read every section, report what is wrong, and return what is valid."""
        for key in tables:
            if key not in SECTIONS:
                self.report("top level", unknown("table", key, SECTIONS))
        self._read_tables["study"] = [self._table(Settings, tables.get("study", {}), "study")]
        for section in NAMED_SECTIONS:
            self._read_tables[section] = self._named_tables(section, tables.get(section, {}))
        self._read_tables["indexes"] = [self._table(Indexes, tables.get("indexes", {}), "indexes")]
        self._read_tables["exclusions"] = self._exclusions(tables.get("exclusions", []))
        environments = self._values("environments")
        for name, values in environments.items():
            for problem in families.problems(name, values, environments, self._registry):
                self.report(place_of("environments", name), problem)
        members = [families.members(name, values, self._registry) for name, values in environments.items()]
        environments = {name: values for table in members for name, values in table.items()}
        if (many := families.count_problem(environments)) is not None:
            self.report("environments", many)
        return Draft(
            settings=self._read_tables["study"][0].values,
            environments=environments,
            workloads=self._values("workloads"),
            profiles=self._values("profiles"),
            exclusions=tuple(each.values for each in self._read_tables["exclusions"]),
            claims=self._values("claims"),
            registry=self._registry,
        )

    def study(self) -> Study:
        """Put the tables together; to be called when no problem was reported."""
        return Study(
            study=self._tables("study", Settings)[0],
            environments={
                member.name: member
                for table in self._tables("environments", Environment)
                for member in families.environments(table, self._registry)
            },
            workloads={choice.name: choice for choice in self._tables("workloads", WorkloadChoice)},
            profiles={profile.name: profile for profile in self._tables("profiles", Profile)},
            indexes=self._tables("indexes", Indexes)[0],
            exclusions=tuple(self._tables("exclusions", Exclusion)),
            claims={claim.name: claim for claim in self._tables("claims", Claim)},
        ).with_registry(self._registry)

    def _values(self, section: str) -> dict[str, dict[str, Any]]:
        return {each.name: each.values for each in self._read_tables[section]}

    def _tables(self, section: str, model: type[StudyTableType]) -> list[StudyTableType]:
        return [each.table for each in self._read_tables[section] if isinstance(each.table, model)]

    def _named_tables(self, section: str, given: Any) -> list[ReadTable]:
        model, example = NAMED_SECTIONS[section]
        if section in OPTIONAL and given == {}:
            return []
        if not isinstance(given, dict) or not given:
            self.report(section, f"must hold at least one table; add for example [{section}.{example}].")
            return []
        return [self._table(model, values, place_of(section, name), name) for name, values in given.items()]

    def _exclusions(self, given: Any) -> list[ReadTable]:
        if not isinstance(given, list):
            self.report("exclusions", "must be an array of tables; write [[exclusions]] in double brackets.")
            return []
        return [self._table(Exclusion, values, f"exclusions[{index}]") for index, values in enumerate(given)]

    def _table(self, model: type[StudyTable], given: Any, where: str, name: str | None = None) -> ReadTable:
        """Read one table; ``name`` is the name in its header, where it has one, and not a key."""
        self.problems.setdefault(where, [])
        if not isinstance(given, dict):
            self.report(where, f"{shown(given)} must be a table of key = value.")
            return ReadTable(name or "", {}, None)
        keys = [key for key in model.model_fields if key != "name" or name is None]
        if name is not None:
            if "name" in given:
                self.report(where, f"{unknown('key', 'name', keys)} The name stands in the header of the table.")
            given = {**given, "name": name}
        try:
            table, wrong = model.model_validate(given, context=self._known), set[str]()
        except ValidationError as error:
            table, details = None, _first_causes(error)
            wrong = {str(detail["loc"][0]) for detail in details if not _is_item(detail, given)}
            for detail in details:
                self.report(where, _message(detail, model, keys))
            given = _without_items(given, [detail for detail in details if _is_item(detail, given)])
        defaults = {key: field.default for key, field in model.model_fields.items() if not field.is_required()}
        right = {key: value for key, value in {**defaults, **given}.items() if key not in wrong}
        return ReadTable(name or "", right, table)


def _first_causes(error: ValidationError) -> list[ErrorDetails]:
    """List the errors without their consequences: an array whose items are all wrong is too short, too."""
    details = error.errors(include_url=False)
    with_wrong_items = {detail["loc"][:-1] for detail in details if len(detail["loc"]) > 1}
    return [d for d in details if not (d["type"] == "too_short" and d["loc"] in with_wrong_items)]


def _is_item(detail: ErrorDetails, given: Mapping[str, Any]) -> bool:
    return len(detail["loc"]) > 1 and isinstance(given.get(str(detail["loc"][0])), list)


def _without_items(given: Mapping[str, Any], details: Iterable[ErrorDetails]) -> dict[str, Any]:
    """Drop the wrong items of arrays, so that the others are still checked."""
    wrong = {(detail["loc"][0], detail["loc"][1]) for detail in details}
    arrays = {key for key, _ in wrong}
    return {
        key: [item for index, item in enumerate(value) if (key, index) not in wrong] if key in arrays else value
        for key, value in given.items()
    }


def _message(detail: ErrorDetails, model: type[StudyTable], keys: list[str]) -> str:
    """Say what pydantic found, with the remedy where the mistake is a common one."""
    key, kind, value = str(detail["loc"][0]), detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return unknown("key", key, keys)
    if kind == "missing":
        return f"{key} is missing. {model.model_fields[key].description}"
    if kind == "too_short":
        field = model.model_fields[key]
        remedy = "add at least one value" if field.is_required() else "add at least one value, or remove the key"
        meaning = (field.description or "").partition(". ")[0].removesuffix(".")
        return f"{'.'.join(map(str, detail['loc']))}: {shown(value)} is empty; {remedy}. {meaning}."
    if kind == "value_error":
        return f"{key}: {detail['ctx']['error']}"
    if kind == "string_type" and isinstance(value, int | float):
        return f'{key}: {value!r} must be a string; write it in quotes: "{value}".'
    if kind == "tuple_type" and isinstance(value, str):
        return f'{key}: {shown(value)} must be an array; write it in brackets: ["{value[:LONGEST]}"].'
    return f"{key}: {shown(value)}: {detail['msg'].replace('Input should', 'must')}."
