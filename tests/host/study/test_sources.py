"""Tests the folders and packages with other people's code that a study file names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from study_tables import changed

from bench.host.study import contracts, json_schema, study_file
from bench.host.study.location import StudyError
from bench.host.study.selection import Selection, select
from bench.registry import BENCH, BUILT_IN, Registry

TOY = Path(__file__).resolve().parents[2] / "extensions" / "toy"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TOY, tmp_path / "mine", ignore=shutil.ignore_patterns("__pycache__")))


def registry_of(folder: Path, *paths: str) -> Registry:
    return study_file.parse(changed("study", "paths", value=list(paths)), folder=folder).registry


def error_of(folder: Path, *paths: str, key: str = "paths") -> str:
    with pytest.raises(StudyError) as caught:
        study_file.parse(changed("study", key, value=list(paths)), folder=folder)
    (error,) = caught.value.errors
    return str(error)


def test_a_study_without_sources_has_our_own() -> None:
    assert study_file.parse(changed("study", "paths", value=[])).registry == BUILT_IN


def test_a_path_is_relative_to_the_study_file(mine: Path) -> None:
    registry = registry_of(mine.parent, "./mine")
    assert registry.others == {"mine": str(mine)}
    assert "saxpy" in registry.workloads


def test_a_path_may_hold_variables(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODE", str(mine))
    assert registry_of(Path("/"), "$CODE").others == {"mine": str(mine)}


def test_a_folder_that_is_named_twice_counts_once(mine: Path) -> None:
    assert registry_of(mine.parent, "mine", "./mine/").others == {"mine": str(mine)}


def test_folders_of_one_name_get_names_of_their_own(tmp_path: Path) -> None:
    for parent in ("a", "b"):
        (tmp_path / parent / "mine" / "workloads").mkdir(parents=True)
    (tmp_path / "bench" / "workloads").mkdir(parents=True)
    assert list(registry_of(tmp_path, "a/mine", "b/mine", "bench").others) == ["mine", "mine-2", "bench-2"]


def test_a_missing_folder_is_named_with_the_remedy(tmp_path: Path) -> None:
    assert error_of(tmp_path, "mien") == (
        f"matrix.toml: study: paths: 'mien': there is no folder {tmp_path}/mien. "
        "Correct the path; it is relative to the study file."
    )


def test_a_folder_without_code_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert error_of(tmp_path, "mine") == (
        f"matrix.toml: study: paths: 'mine': {tmp_path}/mine holds none of the folders frameworks, workloads, outputs. "
        "Add one, or remove it."
    )


def test_an_unknown_package_is_named_with_the_known_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "toy_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[benchmatrix]\ntoys = absent_package\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    error = error_of(tmp_path, "toy", key="packages")
    assert "packages: unknown package 'toy'; did you mean 'toys'? Known: toys" in error
    error = error_of(tmp_path, "toys", key="packages")
    assert "packages: 'toys': its entry point names 'absent_package', which is not an installed package" in error


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("frameworks/torch/facts.py", "study: framework 'torch' exists in bench and in mine; rename one of them."),
        ("workloads/mlp_train/__init__.py", "study: workload 'mlp-train' exists in bench and in mine; rename one"),
        (
            "workloads/gemm/torch.py",
            "study: implementation workloads/gemm/torch.py exists in bench and in mine; rename",
        ),
        (
            "frameworks/other/adapter.py",
            "study: mine/frameworks/other has neither facts.py, which defines a framework,",
        ),
        ("frameworks/touch/modes.py", "study: mine/frameworks/touch/modes.py: unknown framework 'touch'; did you mean"),
        (
            "workloads/gem/toy.py",
            "study: mine/workloads/gem has no __init__.py, which defines a workload; to implement 'gemm', call",
        ),
    ],
)
def test_what_exists_already_or_belongs_to_nothing_is_an_error(mine: Path, file: str, message: str) -> None:
    (mine / file).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(TOY / "frameworks" / "toy" / "facts.py", mine / file)
    assert error_of(mine.parent, "mine").startswith(f"matrix.toml: {message}")


@pytest.mark.parametrize(
    ("folder", "name", "remedy"),
    [
        ("rms-norm", "rms-norm", "rename it to rms_norm"),
        ("2d-conv", "2d-conv", "use letters, digits and '_', beginning with a letter"),
    ],
)
def test_a_workload_in_a_folder_that_python_cannot_import_is_refused_where_it_is_used(
    mine: Path, folder: str, name: str, remedy: str
) -> None:
    shutil.copytree(mine / "workloads" / "saxpy", mine / "workloads" / folder)
    tables = changed("study", "paths", value=["mine"])
    study = study_file.parse(tables, folder=mine.parent)
    assert name not in study.registry.workloads
    said = f"the folder mine/workloads/{folder} has a name that Python cannot import; {remedy}."
    with pytest.raises(StudyError) as caught:
        select(study, Selection(workloads=[name]))
    assert caught.value.errors == (f"--workload: {said}",)
    tables["workloads"][name] = {}
    with pytest.raises(StudyError) as caught:
        study_file.parse(tables, folder=mine.parent)
    assert caught.value.errors == (f"matrix.toml: workloads.{name}: {said}",)


@pytest.mark.parametrize("file", ["toy.py", "__init__.py"])
@pytest.mark.parametrize(
    ("there", "remedy"),
    [(False, "rename it to layernorm_softmax"), (True, "move its files to layernorm_softmax, which exists")],
)
def test_a_folder_for_a_workload_that_exists_must_have_a_name_that_python_can_import(
    mine: Path, file: str, there: bool, remedy: str
) -> None:
    (mine / "workloads" / "layernorm-softmax").mkdir()
    (mine / "workloads" / "layernorm-softmax" / file).write_text("")
    if there:
        (mine / "workloads" / "layernorm_softmax").mkdir()
    assert error_of(mine.parent, "mine") == (
        "matrix.toml: study: the folder mine/workloads/layernorm-softmax has a name that Python cannot import; "
        f"{remedy}."
    )


def test_a_file_beside_the_workloads_may_have_any_name(mine: Path) -> None:
    (mine / "workloads" / "layernorm-softmax").write_text("")
    assert "saxpy" in registry_of(mine.parent, "mine").workloads


def test_a_framework_in_a_folder_that_python_cannot_import_is_refused_where_it_is_used(mine: Path) -> None:
    shutil.copytree(mine / "frameworks" / "toy", mine / "frameworks" / "toy-two")
    tables = changed("study", "paths", value=["mine"])
    assert "toy-two" not in study_file.parse(tables, folder=mine.parent).registry.frameworks
    tables["environments"]["there"]["framework"] = "toy-two"
    with pytest.raises(StudyError) as caught:
        study_file.parse(tables, folder=mine.parent)
    assert caught.value.errors == (
        "matrix.toml: environments.there: framework: the folder mine/frameworks/toy-two has a name that Python cannot "
        "import; rename it to toy_two.",
    )


TOY_MODES = '(Mode("eager"), Mode("planned", first_call_s=0.5))'
SUCH_AS = 'such as SIZES = {"check": {"rows": 8}, "tiny": {"rows": 256}}.'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("SIZES = 3", f"SIZES = 3: must be a dictionary {{size: {{parameter: number}}}}, {SUCH_AS}"),
        ("SIZES = {}", f"SIZES = {{}}: must be a dictionary {{size: {{parameter: number}}}}, {SUCH_AS}"),
        (
            "SIZES = [{'n': 8}]",
            f"SIZES = [{{'n': 8}}]: must be a dictionary {{size: {{parameter: number}}}}, {SUCH_AS}",
        ),
        ("SIZES = {'tiny': 3}", f"SIZES['tiny'] = 3: must be a dictionary of parameters, {SUCH_AS}"),
        ("SIZES = {3: {'n': 8}}", f"SIZES: the name of a size, 3, must be a text in quotes, {SUCH_AS}"),
        ("PRECISIONS = 3", 'PRECISIONS = 3: must be a tuple, such as ("float32", "float64"). Known: float32, '),
        ("PRECISIONS = 'float32'", "PRECISIONS = 'float32': must be a tuple, such as"),
        ("PRECISIONS = ()", "PRECISIONS = (): must be a tuple, such as"),
        ("TRAINING = 1", "TRAINING = 1: must be True or False."),
        ("del reference", "does not define reference; see the docstring of bench.workloads."),
        ("TRAINING = True", "does not define OPTIMIZER, loss; see the docstring of bench.workloads."),
        ("items = 8", "items must be a function of these arguments: def items(size)."),
        ("def batch(size, random): pass", "batch must be a function of these arguments: def batch(size, random, "),
    ],
)
def test_a_specification_with_a_value_of_a_wrong_kind_is_refused_where_it_is_used(
    mine: Path, line: str, said: str
) -> None:
    with (mine / "workloads" / "saxpy" / "__init__.py").open("a") as file:
        file.write(f"\n{line}\n")
    tables = changed("study", "paths", value=["mine"])
    registry = study_file.parse(tables, folder=mine.parent).registry
    # Editors lose their help for this workload, and nothing else.
    assert set(workloads_in_schema(registry)) == set(BUILT_IN.workloads)
    tables["workloads"]["saxpy"] = {}
    with pytest.raises(StudyError) as caught:
        study_file.parse(tables, folder=mine.parent)
    (error,) = caught.value.errors
    assert error.startswith(f"mine/workloads/saxpy/__init__.py: {said}")


@pytest.mark.parametrize(
    ("optimizer", "said"),
    [
        ("'sgd'", "OPTIMIZER = 'sgd': must be a dictionary with a name, such as OPTIMIZER = {"),
        ("{'name': 'sdg', 'learning_rate': 0.1}", "OPTIMIZER: unknown optimizer 'sdg'; did you mean 'sgd'? Known: sgd"),
        ("{'name': 'sgd'}", "OPTIMIZER: 'sgd' lacks learning_rate."),
        ("{'name': 'adam', 'learning_rate': 0.1}", "OPTIMIZER: 'adam' lacks beta1, beta2, epsilon."),
        ("{'name': 'sgd', 'learning_rate': 0.1, 'decay': 1}", "OPTIMIZER: unknown key 'decay'. Known: name, "),
    ],
)
def test_an_optimizer_that_the_reference_cannot_apply_is_refused(mine: Path, optimizer: str, said: str) -> None:
    with (mine / "workloads" / "saxpy" / "__init__.py").open("a") as file:
        file.write(f"\nTRAINING = True\nOPTIMIZER = {optimizer}\ndef loss(size, parameters, state, batch): pass\n")
    tables = changed("study", "paths", value=["mine"])
    tables["workloads"]["saxpy"] = {}
    with pytest.raises(StudyError) as caught:
        study_file.parse(tables, folder=mine.parent)
    assert caught.value.errors[0].startswith(f"mine/workloads/saxpy/__init__.py: {said}")


def test_the_optimizers_of_our_own_specifications_have_these_keys() -> None:
    for name in BUILT_IN.workloads:
        specification = BUILT_IN.specification(name)
        assert list(contracts._wrong_specification(specification)) == [], name


def error_with(mine: Path, file: str, old: str, new: str) -> str:
    """Return the error of a study whose source has ``new`` in place of ``old`` in a file."""
    text = (mine / file).read_text()
    assert old in text
    (mine / file).write_text(text.replace(old, new))
    return error_of(mine.parent, "mine")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("FACTS =", "FACT =", "facts.py: FACTS must be a bench.frameworks.facts.Facts."),
        (TOY_MODES, '(Mode("eager"))', "facts.py: modes = Mode(name='eager',"),
        (TOY_MODES, "()", "facts.py: modes = (): must be a tuple with one mode at least; a single one takes a comma"),
        ("first_call_s=0.5", 'part="steps"', "facts.py: mode 'planned': unknown part 'steps'; did you mean 'step'?"),
        ('"{threads}"', '"{thread}"', "facts.py: variables['TOY_THREADS'] = '{thread}': must be a text in quotes, in"),
        ('"{threads}"', "1", "facts.py: variables['TOY_THREADS'] = 1: must be a text in quotes, in which {threads}"),
    ],
)
def test_facts_with_a_value_of_a_wrong_kind_are_refused(mine: Path, old: str, new: str, said: str) -> None:
    assert error_with(mine, "frameworks/toy/facts.py", old, new).startswith(f"mine/frameworks/toy/{said}")


def test_a_framework_without_an_adapter_is_refused(mine: Path) -> None:
    (mine / "frameworks" / "toy" / "adapter.py").unlink()
    assert error_of(mine.parent, "mine").startswith("mine/frameworks/toy/ has no adapter.py, which every framework")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("MODES", "MODE", "does not define MODES; add MODES = (Mode("),
        ('(Mode("checked"),)', '(Mode("checked"))', "MODES = Mode(name='checked',"),
        ("def apply", "def applies", "does not define apply(mode, function, training, part);"),
    ],
)
def test_a_module_of_modes_without_what_is_read_is_refused(mine: Path, old: str, new: str, said: str) -> None:
    file = "frameworks/numpy/modes.py"
    assert error_with(mine, file, old, new).startswith(f"mine/{file}: {said}")


def workloads_in_schema(registry: Registry) -> list[str]:
    return list(json_schema.schema(registry)["properties"]["workloads"]["properties"])


def test_a_mode_that_exists_already_is_an_error(mine: Path) -> None:
    modes = mine / "frameworks" / "numpy" / "modes.py"
    modes.write_text(modes.read_text().replace("checked", "eager"))
    assert error_of(mine.parent, "mine") == (
        "mine/frameworks/numpy: mode 'eager' of 'numpy' exists already; rename it."
    )


def test_names_are_checked_against_the_studys_own_registry(mine: Path) -> None:
    tables = changed("study", "paths", value=["mine"])
    tables["environments"]["there"].update(framework="toy", modes=["planed"])
    with pytest.raises(StudyError) as caught:
        study_file.parse(tables, folder=mine.parent)
    message = str(caught.value)
    assert "unknown mode 'planed'; did you mean 'planned'? Known: " in message
    # Those of this framework: another one's modes are no remedy.
    assert set(message.partition("Known: ")[2].replace(".", "").split(", ")) == {"eager", "planned"}
    tables["environments"]["there"]["modes"] = ["planned"]
    assert study_file.parse(tables, folder=mine.parent).environments["there"].modes == ("planned",)
    assert "toy" not in BUILT_IN.frameworks
    assert BENCH.name not in study_file.parse(tables, folder=mine.parent).registry.others
