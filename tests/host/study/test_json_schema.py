"""The JSON Schema of study files: current, complete, and aware of this checkout."""

from __future__ import annotations

import json
from pathlib import Path

from bench.host.study import json_schema
from bench.host.study.environment import Environment
from bench.host.study.reader import NAMED_SECTIONS, SECTIONS
from bench.host.study.schema import Exclusion, Indexes, Profile, Settings, WorkloadChoice
from bench.host.study.table import StudyTable
from bench.registry import BUILT_IN

ROOT = Path(__file__).resolve().parents[3]

MODELS: tuple[type[StudyTable], ...] = (Settings, Environment, WorkloadChoice, Profile, Indexes, Exclusion)


def test_the_schema_is_written_where_study_files_refer_to_it(tmp_path: Path) -> None:
    for study_file in (ROOT / "matrix.toml", ROOT / "skeleton" / "matrix.toml"):
        assert study_file.read_text(encoding="utf-8").startswith(f"{json_schema.REFERENCE}\n")
    written = json_schema.write(tmp_path / "matrix.toml")
    assert written == tmp_path / "matrix.schema.json"
    assert json.loads(written.read_text(encoding="utf-8")) == json_schema.schema()


def test_a_missing_or_stale_schema_is_renewed(tmp_path: Path) -> None:
    study_file, path = tmp_path / "matrix.toml", tmp_path / "matrix.schema.json"
    study_file.write_text(f"{json_schema.REFERENCE}\n")
    json_schema.renew(study_file, BUILT_IN)
    assert path.read_text(encoding="utf-8") == json_schema.text()
    path.write_text("{}")
    json_schema.renew(study_file, BUILT_IN)
    assert path.read_text(encoding="utf-8") == json_schema.text()
    before = path.stat().st_mtime_ns
    json_schema.renew(study_file, BUILT_IN)
    assert path.stat().st_mtime_ns == before


def test_a_study_file_that_names_no_schema_beside_it_gets_none(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").write_text("[study]\n")
    json_schema.renew(tmp_path / "matrix.toml", BUILT_IN)
    json_schema.renew(tmp_path / "missing.toml", BUILT_IN)
    assert [path.name for path in tmp_path.iterdir()] == ["matrix.toml"]


def test_the_schema_describes_every_key_and_offers_no_other() -> None:
    schema = json_schema.schema()
    assert list(schema["properties"]) == list(SECTIONS)
    for model in MODELS:
        definition = schema["$defs"][model.__name__]
        own_name = {"name"} if model in [kind for kind, _ in NAMED_SECTIONS.values()] else set()
        assert set(definition["properties"]) == set(model.model_fields) - own_name
        assert definition["additionalProperties"] is False
        assert all(described["description"] for described in definition["properties"].values())
        assert "name" not in set(definition.get("required", ())) & own_name
    assert "null" not in json.dumps(schema)


def test_the_schema_knows_the_modes_and_sizes_of_this_checkout() -> None:
    schema = json_schema.schema()
    workload = schema["properties"]["workloads"]["properties"]["mlp-train"]
    assert workload["properties"]["sizes"]["items"]["enum"] == list(BUILT_IN.specification("mlp-train").SIZES)
    assert workload["description"].startswith("Specifies mlp-train")
    by_framework = {
        rule["if"]["properties"]["framework"]["const"]: rule["then"]["properties"]["modes"]["items"]["enum"]
        for rule in schema["$defs"]["Environment"]["allOf"]
    }
    assert by_framework == {name: list(BUILT_IN.facts(name).mode_names) for name in BUILT_IN.frameworks}
