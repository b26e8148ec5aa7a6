"""The study file: whatever it holds, it becomes a study or the list of everything that is wrong with it."""

from __future__ import annotations

import copy
import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from study_tables import MODELS, TABLES, errors_of, table_at, toml

from bench.host.study import study_file
from bench.host.study.location import StudyError
from bench.host.study.reader import NAMED_SECTIONS, SECTIONS
from bench.host.study.schema import COORDINATES, Study
from bench.registry import BUILT_IN

SCALARS = st.one_of(
    st.text(max_size=8),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.datetimes(),
    st.just(datetime.date(2026, 1, 1)),
    st.sampled_from(
        ["eager", "compile", "torch", "mlp-train", "small", "float32", "cpu", "old", "new", "quick", "all"]
    ),
)
KNOWN_KEYS = st.sampled_from(
    [*SECTIONS, "old", "mlp-train", "quick", *(k for m in MODELS.values() for k in m.model_fields)]
)
KEYS = KNOWN_KEYS | st.text(max_size=4)
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


def outcome(tables: dict[str, Any]) -> tuple[Study | None, tuple[str, ...]]:
    """Parse; anything but a study or a StudyError escapes. Return the study, or what is wrong."""
    try:
        return study_file.parse(tables), ()
    except StudyError as refusal:
        return None, refusal.errors


@given(st.dictionaries(st.sampled_from(SECTIONS) | st.text(max_size=4), JUNK, max_size=5))
def test_junk_is_refused_and_never_a_crash(tables: dict[str, Any]) -> None:
    study, errors = outcome(tables)
    assert study is None
    assert errors
    assert all(line.startswith("matrix.toml: ") for line in errors)


@given(st.data())
def test_a_study_with_junk_put_in_anywhere_is_a_study_or_refused_with_its_place(data: st.DataObject) -> None:
    tables: Any = copy.deepcopy(TABLES)
    place: Any = tables
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = data.draw(JUNK)
    study, errors = outcome(tables)
    assert (study is None) == bool(errors)
    assert all(line.startswith("matrix.toml: ") for line in errors)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | st.just(b"x = " + b"[" * 5000))
def test_no_file_is_a_crash(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "matrix.toml"
    path.write_bytes(content)
    with pytest.raises(StudyError):
        study_file.load(path)


@given(st.data())
def test_a_mistyped_key_is_answered_with_the_key(data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(sorted(MODELS)))
    keys = [key for key in MODELS[place].model_fields if key != "name" and len(key) > 3]
    key = data.draw(st.sampled_from(keys))
    position = data.draw(st.integers(1, len(key) - 1))
    typo = data.draw(st.sampled_from([key[:position] + key[position + 1 :], key[:position] + "x" + key[position:]]))
    tables = copy.deepcopy(TABLES)
    table_at(tables, place)[typo] = "x"
    lines = [line for line in errors_of(tables) if f"unknown key {typo!r}" in line]
    assert lines == [line for line in lines if f"did you mean {key!r}?" in line and f": {place}: " in line]
    assert len(lines) == 1


NAMES = st.from_regex(r"\A[a-z0-9][a-z0-9._-]{0,9}\Z")


RANGES = (">1", ">=1.78", "<0.5", ">=4,<=5")
THREADS = st.just("all") | st.integers(1, 99)


def claims(environment: str) -> st.SearchStrategy[dict[str, Any]]:
    unsettled = st.fixed_dictionaries({"says": st.just("x"), "unsettled": st.just("no number of ours")})
    compared = {"says": st.just("x"), "columns": st.just([f"{environment}:*"]), "factor": st.sampled_from(RANGES)}
    others = compared | {"against": st.just(["*"])}, compared | {"quantity": st.just("warm-start")}
    return unsettled | st.one_of(*map(st.fixed_dictionaries, others))


@st.composite
def studies(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the tables of a valid study."""
    environments: dict[str, dict[str, Any]] = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        framework = draw(st.sampled_from(BUILT_IN.frameworks))
        modes = draw(st.lists(st.sampled_from(BUILT_IN.facts(framework).mode_names), min_size=1, unique=True))
        requirements = draw(st.lists(st.sampled_from(["numpy<2", "optax", "torch==2.15.0"]), min_size=1, unique=True))
        variables = draw(st.dictionaries(st.sampled_from(["A", "B_2"]), st.text("abc $/", max_size=4)))
        environments[name] = {"framework": framework, "modes": modes, "python": "3.11", "requirements": requirements}
        if variables:
            environments[name]["variables"] = variables
    sizes = st.lists(st.sampled_from(sorted(BUILT_IN.specification("mlp-train").SIZES)), min_size=1, unique=True)
    profile = {
        "rounds": draw(st.integers(1, 50)),
        "samples": draw(st.integers(1, 50)),
        "sample_seconds": draw(st.floats(0.001, 10)),
        "sizes": draw(sizes),
    }
    first = next(iter(environments))
    exclusions = dict.fromkeys(draw(st.lists(st.sampled_from(COORDINATES), min_size=1, unique=True)), "*")
    return {
        "study": {
            "name": draw(NAMES),
            "title": draw(st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=10)),
            "baseline": f"{first}:{environments[first]['modes'][0]}",
            "default": list(environments),
            "profile": "only",
            "seed": draw(st.integers(0, 2**32 - 1)),
            "threads": draw(THREADS | st.lists(THREADS, min_size=1, unique=True)),
        },
        "environments": environments,
        "workloads": {"mlp-train": draw(st.just({}) | st.fixed_dictionaries({"sizes": sizes}))},
        "profiles": {"only": profile},
        "indexes": draw(st.just({}) | st.just({"torch_cpu": "https://example.org/cpu"})),
        "exclusions": draw(st.just([]) | st.just([{**exclusions, "reason": "so"}])),
        "claims": draw(st.dictionaries(NAMES, claims(first), max_size=2)),
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(studies())
def test_a_study_survives_being_written_and_read(tmp_path: Path, tables: dict[str, Any]) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text(toml(tables), encoding="utf-8", newline="")
    study = study_file.load(path)
    dumped = study.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for section in NAMED_SECTIONS:
        for table in dumped[section].values():
            del table["name"]
    assert dumped == tables
    assert study_file.parse(dumped).from_file(path) == study
