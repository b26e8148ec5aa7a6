"""The study file: whatever it holds, it becomes a study or the list of everything that is wrong with it."""

from __future__ import annotations

import copy
import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.frameworks import MODES
from bench.host import matrix
from bench.host.matrix import MatrixError
from bench.host.reader import NAMED_SECTIONS, SECTIONS
from bench.host.schema import COORDINATES, Environment, Exclusion, Profile, Settings, Table, WorkloadChoice
from bench.host.suggestion import unknown
from bench.workloads import load_specification, names

ROOT = Path(__file__).resolve().parents[2]

TABLES: dict[str, Any] = {
    "study": {"name": "example", "baseline": "old:eager", "default": ["old", "new"], "profile": "quick"},
    "environments": {
        "old": {
            "framework": "torch",
            "python": "3.11",
            "requirements": ["torch==1.13.1", "numpy<2"],
            "modes": ["eager", "torchscript"],
        },
        "new": {"framework": "jax", "python": "3.11", "requirements": ["jax==0.10.2"], "modes": ["eager", "jit"]},
        "there": {"framework": "numpy", "provider": "existing", "interpreter": "python3", "modes": ["eager"]},
    },
    "workloads": {"mlp-train": {}},
    "profiles": {"quick": {"rounds": 3, "samples": 10, "sample_seconds": 0.01, "sizes": ["tiny"]}},
    "exclusions": [{"environment": "old", "mode": "torch*", "reason": "not this one"}],
}
MODELS: dict[str, type[Table]] = {
    "study": Settings,
    "environments.new": Environment,
    "workloads.mlp-train": WorkloadChoice,
    "profiles.quick": Profile,
    "exclusions[0]": Exclusion,
}


def changed(*path: str | int, value: Any) -> dict[str, Any]:
    """Copy the example with one value put in, or taken out where it is None."""
    tables = copy.deepcopy(TABLES)
    *parents, last = path
    table: Any = tables
    for key in parents:
        table = table[key]
    if value is None:
        del table[last]
    else:
        table[last] = value
    return tables


def toml(tables: dict[str, Any]) -> str:
    """Write the tables of a study as a file; JSON's strings, numbers and arrays are TOML's as well."""
    headed = [("[study]", tables["study"])]
    for section in NAMED_SECTIONS:
        headed += [(f"[{section}.{json.dumps(name)}]", table) for name, table in tables[section].items()]
    headed += [("[[exclusions]]", table) for table in tables["exclusions"]]
    return "".join(f"{header}\n" + "".join(f"{k} = {toml_value(v)}\n" for k, v in t.items()) for header, t in headed)


def toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml_value(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def errors_of(tables: dict[str, Any]) -> list[str]:
    with pytest.raises(MatrixError) as caught:
        matrix.parse(tables)
    return list(caught.value.errors)


def table_at(tables: dict[str, Any], place: str) -> dict[str, Any]:
    table: Any = tables
    for key in place.replace("[0]", ".0").split("."):
        table = table[int(key)] if key.isdigit() else table[key]
    assert isinstance(table, dict)
    return table


def test_the_example_is_a_study() -> None:
    study = matrix.parse(TABLES)
    assert list(study.environments) == ["old", "new", "there"]
    assert study.environments["new"].name == "new"
    assert study.environments["new"].provider == "venv"
    assert study.profiles["quick"].name == "quick"
    assert study.workloads["mlp-train"].precisions == ("float32",)
    assert study.settings.threads == "all"


def test_a_study_does_not_change() -> None:
    study = matrix.parse(TABLES)
    with pytest.raises(ValueError, match="frozen"):
        study.settings.seed = 1


def test_the_shipped_study_names_every_column_of_its_comparison() -> None:
    study = matrix.load(ROOT / "matrix.toml")
    assert study.settings.default == ("torch1", "torch2", "tf2", "jax")
    assert study.settings.baseline == "torch1:eager"
    assert {"check", "quick", "standard", "publication"} <= set(study.profiles)
    assert {env.python for env in study.environments.values() if env.provider == "venv"} == {"3.11"}


def test_adding_a_version_is_adding_one_table(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    table = '[environments.older]\nframework = "torch"\npython = "3.11"\n'
    table += 'requirements = ["torch==2.5.1"]\nmodes = ["compile"]\n'
    path.write_text(toml(TABLES) + table, encoding="utf-8")
    assert matrix.load(path).environments["older"].requirements == ("torch==2.5.1",)


def test_all_errors_of_a_file_come_at_once_in_its_order() -> None:
    tables = changed("study", "baseline", value="old:eagre")
    tables["environments"]["old"]["modes"] = ["eager", "compile", "jitt"]
    tables["environments"]["new"]["frame"] = "jax"
    tables["workloads"]["mlp-trian"] = {}
    tables["profiles"]["quick"]["rounds"] = 0
    assert errors_of(tables) == [
        "matrix.toml: study: baseline: unknown old mode 'eagre'; did you mean 'eager'? Known: eager, compile.",
        "matrix.toml: environments.old: modes: unknown mode 'jitt'; did you mean 'jit'? "
        "Known: eager, torchscript, compile, function, xla, jit.",
        "matrix.toml: environments.old: mode 'compile' needs PyTorch 2.0; this environment pins torch==1.13.1. "
        "Use 'eager' or 'torchscript'.",
        "matrix.toml: environments.new: unknown key 'frame'; did you mean 'framework'? "
        "Known: framework, provider, python, requirements, modes, interpreter, lock, dockerfile, base, "
        "system_packages, driver, variables, note.",
        "matrix.toml: workloads.mlp-trian: " + unknown("workload", "mlp-trian", names()),
        "matrix.toml: profiles.quick: rounds: 0: must be greater than or equal to 1.",
        "matrix.toml: exclusions[0]: mode: unknown mode 'torch*'. Known: eager, compile, jit.",
    ]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("environments", "new", "python"), 3.11, 'python: 3.11 must be a string; write it in quotes: "3.11".'),
        (("environments", "new", "python"), "python3.11", "'python3.11': give a version of Python 3 such as \"3.11\"."),
        (("environments", "new", "python"), None, "provider 'venv' needs python; give for example"),
        (("environments", "new", "requirements"), None, "provider 'venv' needs requirements; give for example"),
        (("environments", "new", "requirements"), ["jax = 1"], "'jax = 1' is not in pip's notation"),
        (("environments", "new", "modes"), "jit", "modes: 'jit' must be an array; write it in brackets: [\"jit\"]."),
        (("environments", "new", "modes"), ["compile"], "unknown jax mode 'compile'. Known: eager, jit."),
        (("environments", "new", "modes"), ["jit", "jit"], "modes: 'jit' is listed twice; remove one."),
        (("environments", "new", "modes"), None, "modes is missing. How the framework executes"),
        (("environments", "new", "framework"), "jaxx", "unknown framework 'jaxx'; did you mean 'jax'?"),
        (("environments", "new", "name"), "x", "unknown key 'name'"),
        (("environments", "new", "variables"), {"A B": "x"}, "variables: 'A B': use letters"),
        (("environments", "new", "variables"), {"A": "\0"}, "remove the NUL character"),
        (("environments", "there", "interpreter"), None, "provider 'existing' needs interpreter"),
        (("environments", "there", "requirements"), ["numpy"], "installs nothing; remove requirements"),
        (
            ("environments", "there", "provider"),
            "exist",
            "provider: 'exist': must be 'venv', 'existing' or 'container'.",
        ),
        (("environments", "Torch 1"), TABLES["environments"]["new"], "use at most 64 lower-case letters"),
        (("environments", "a/b"), TABLES["environments"]["new"], "use at most 64 lower-case letters"),
        (("environments", ".."), TABLES["environments"]["new"], "use at most 64 lower-case letters"),
        (("environments", "new"), 3, "environments.new: 3 must be a table"),
        (("environments",), {}, "environments: must hold at least one table; add for example [environments.torch2]."),
        (("environment",), {}, "top level: unknown table 'environment'; did you mean 'environments'?"),
        (("study", "name"), "../up", "study: name: '../up': use at most 64"),
        (("study", "threads"), 0, "threads: 0: give a whole number of at least 1, or 'all'"),
        (("study", "threads"), True, "threads: True: give a whole number"),
        (
            ("study", "default"),
            ["nwe"],
            "default: unknown environment 'nwe'; did you mean 'new'? Known: old, new, there.",
        ),
        (("study", "baseline"), "old", "baseline: 'old' names no column; give environment:mode"),
        (("study", "baseline"), "odl:eager", "baseline: unknown environment 'odl'; did you mean 'old'?"),
        (("study", "profile"), "quik", "profile: unknown profile 'quik'; did you mean 'quick'? Known: quick."),
        (("study", "devices"), ["gpuu"], "unknown device 'gpuu'; did you mean 'gpu'? Known: cpu, gpu."),
        (("workloads", "mlp-train", "sizes"), ["smal"], "unknown mlp-train size 'smal'; did you mean 'small'?"),
        (("workloads", "mlp-train", "precisions"), ["float16"], "unknown mlp-train precision 'float16'"),
        (("workloads", "mlp-train", "data"), "~/x", "reads no data; remove data."),
        (("workloads", "mlp_train"), {}, "unknown workload 'mlp_train'; did you mean 'mlp-train'?"),
        (("workloads", "mlp-train", "data"), 3, "data: 3: give a path, in quotes."),
        (("profiles", "quick", "sizes"), ["smal"], "unknown size 'smal'; did you mean 'small'?"),
        (("profiles", "quick", "sample_seconds"), float("nan"), "sample_seconds: nan"),
        (("profiles", "quick", "samples"), True, "samples: True: must be a valid integer."),
        (("exclusions",), {"reason": "x"}, "exclusions: must be an array of tables; write [[exclusions]]"),
        (("exclusions", 0), {"reason": "x"}, "exclusions[0]: names no cells; give at least one of environment, "),
        (("exclusions", 0, "workload"), "mpl-*", "unknown workload 'mpl-*'; did you mean 'mlp-train'?"),
        (("exclusions", 0, "reason"), "", "reason: '': must hold something"),
    ],
)
def test_a_mistake_is_one_error_with_value_and_remedy(path: tuple[str | int, ...], value: Any, said: str) -> None:
    tables = changed(*path, value=value)
    (error,) = errors_of(tables)
    assert error.startswith("matrix.toml: ")
    assert said in error


@pytest.mark.parametrize(
    ("requirement", "refused"),
    [
        ("torch==1.13.1", True),
        ("torch==1.13.*", True),
        ("torch<2", True),
        ("torch<=1.13.1", True),
        ("torch~=1.12", True),
        ("Torch >= 1.0, < 2.0", True),
        ("torch==2.0.0", False),
        ("torch==2.15.0+cpu", False),
        ("torch<2.1", False),
        ("torch>=1.13", False),
        ("torch", False),
        ("torch==1.13.1; python_version < '3.9'", False),
        ("torchvision==0.14.1", False),
    ],
)
def test_compile_is_refused_exactly_where_the_pin_is_before_pytorch_2(requirement: str, refused: bool) -> None:
    tables = changed("environments", "old", "requirements", value=[requirement])
    tables["environments"]["old"]["modes"] = ["eager", "torchscript", "compile"]
    if refused:
        (error,) = errors_of(tables)
        assert f"mode 'compile' needs PyTorch 2.0; this environment pins {requirement}. Use 'eager'" in error
    else:
        assert "compile" in matrix.parse(tables).environments["old"].modes


def test_paths_are_expanded_and_data_is_found_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("STACK", "/opt/stack")
    monkeypatch.setattr(load_specification("mlp-train"), "source", lambda path=None: None, raising=False)
    tables = changed("environments", "there", "interpreter", value="$STACK/bin/python")
    for written, expected in (("digits", tmp_path / "digits"), ("~/digits", Path("/home/someone/digits"))):
        tables["workloads"]["mlp-train"]["data"] = written
        study = matrix.parse(tables, folder=tmp_path)
        assert study.workloads["mlp-train"].data == expected
        assert study.environments["there"].interpreter == "/opt/stack/bin/python"


def test_broken_toml_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    for text, line in (("[study]\nname =\n", 2), ("[environments.a]\n\n[environments.a]\n", 3)):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(MatrixError, match=rf"broken\.toml: not valid TOML: .*\(at line {line}, "):
            matrix.load(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.toml", tmp_path, Path("nul\0")):
        with pytest.raises(MatrixError, match=r"cannot be read: .*--matrix"):
            matrix.load(path)


def test_a_file_is_named_as_it_is_found_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "studies").mkdir()
    path = tmp_path / "studies" / "one.toml"
    path.write_text("x = 1", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MatrixError, match=r"^studies/one\.toml: top level: "):
        matrix.load(path)


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


def is_a_study_or_refused(tables: dict[str, Any]) -> bool:
    """Parse; anything but a study or a MatrixError escapes. Tell whether it was a study."""
    errors: tuple[str, ...] = ()
    try:
        matrix.parse(tables)
    except MatrixError as refusal:
        errors = refusal.errors
        if not errors:
            pytest.fail("refused without an error")
    assert all(line.startswith("matrix.toml: ") for line in errors)
    return not errors


@given(st.dictionaries(st.sampled_from(SECTIONS) | st.text(max_size=4), JUNK, max_size=5))
def test_junk_is_refused_and_never_a_crash(tables: dict[str, Any]) -> None:
    assert not is_a_study_or_refused(tables)


@given(st.data())
def test_a_study_with_junk_put_in_anywhere_is_never_a_crash(data: st.DataObject) -> None:
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
    is_a_study_or_refused(tables)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | st.just(b"x = " + b"[" * 5000))
def test_no_file_is_a_crash(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "matrix.toml"
    path.write_bytes(content)
    with pytest.raises(MatrixError):
        matrix.load(path)


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


def test_a_name_unlike_every_other_gets_no_suggestion() -> None:
    assert unknown("mode", "zzzzz", ["eager", "jit"]) == "unknown mode 'zzzzz'. Known: eager, jit."
    assert unknown("workload", "MLP_Train", ["gemm", "mlp-train"]).startswith(
        "unknown workload 'MLP_Train'; did you mean 'mlp-train'?"
    )
    assert unknown("mode", "x", []) == "unknown mode 'x': there is none to choose from."


NAMES = st.from_regex(r"\A[a-z0-9][a-z0-9._-]{0,9}\Z")


@st.composite
def studies(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the tables of a valid study."""
    environments: dict[str, dict[str, Any]] = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        framework = draw(st.sampled_from(sorted(MODES)))
        modes = draw(st.lists(st.sampled_from(MODES[framework]), min_size=1, unique=True))
        requirements = draw(st.lists(st.sampled_from(["numpy<2", "optax", "torch==2.15.0"]), min_size=1, unique=True))
        variables = draw(st.dictionaries(st.sampled_from(["A", "B_2"]), st.text("abc $/", max_size=4)))
        environments[name] = {"framework": framework, "modes": modes, "python": "3.11", "requirements": requirements}
        if variables:
            environments[name]["variables"] = variables
    sizes = st.lists(st.sampled_from(sorted(load_specification("mlp-train").SIZES)), min_size=1, unique=True)
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
            "threads": draw(st.just("all") | st.integers(1, 99)),
        },
        "environments": environments,
        "workloads": {"mlp-train": draw(st.just({}) | st.fixed_dictionaries({"sizes": sizes}))},
        "profiles": {"only": profile},
        "exclusions": draw(st.just([]) | st.just([{**exclusions, "reason": "so"}])),
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(studies())
def test_a_study_survives_being_written_and_read(tmp_path: Path, tables: dict[str, Any]) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text(toml(tables), encoding="utf-8", newline="")
    study = matrix.load(path)
    dumped = study.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for section in NAMED_SECTIONS:
        for table in dumped[section].values():
            del table["name"]
    assert dumped == tables
    assert matrix.parse(dumped) == study
