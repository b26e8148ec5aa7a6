"""Families of versions: what environments a table with ``versions`` becomes, and which versions are refused."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from study_tables import TABLES, errors_of, toml

from bench.frameworks.facts import Facts, Mode, Release
from bench.host.study import families, family_names, study_file
from bench.host.study.selection import Selection, select
from bench.registry import BUILT_IN

FAMILY = {"framework": "torch", "versions": ["2.0.1", "1.13.1", "2.10.0"], "modes": ["eager", "compile"]}
FACTS = Facts(
    product="Toy",
    distribution="toy",
    import_name="toy",
    modes=(Mode("eager"),),
    releases=(
        Release("1.0", ("3.7", "3.9"), ("numpy<2", "toylib=={version}")),
        Release("2.0", ("3.8", "3.11"), ("numpy",)),
        Release("3.0", ("3.12", "3.13")),
    ),
)
HOSTILE = (
    "", "../../etc", "2.0/../..", "2.0\n", "2.0\x00", "2.0;rm -rf /", "v2.0", "2.0+cpu", "1!2.0", "2.0 ", " 2.0", "2.*",
    ">=2.0", "２.0", "latest", "-1", "2.0.dev0", "2" * 10, ".".join("1" * 6), "$HOME", "~", "2.0'", '2.0"', "2..0",
)  # fmt: skip


def study(**changes: Any) -> dict[str, Any]:
    tables = copy.deepcopy(TABLES)
    tables["environments"]["torch"] = {**FAMILY, **changes}
    return {**tables, "exclusions": []}


def test_each_version_becomes_an_environment_named_after_it_oldest_first() -> None:
    parsed = study_file.parse(study())
    assert parsed.families == {"torch": ("torch-1.13.1", "torch-2.0.1", "torch-2.10.0")}
    assert [name for name in parsed.environments if name.startswith("torch")] == list(parsed.families["torch"])
    member = parsed.environments["torch-2.0.1"]
    assert (member.name, member.family, member.version, member.versions) == ("torch-2.0.1", "torch", "2.0.1", ())
    assert member.modes == ("eager", "compile")
    assert "torch" not in parsed.environments


def test_an_environment_with_a_table_of_its_own_has_no_family() -> None:
    old = study_file.parse(study()).environments["old"]
    assert (old.family, old.version) == (None, None)


def test_a_member_installs_its_version_and_what_this_version_needs() -> None:
    parsed = study_file.parse(study(requirements=["lightning"])).environments
    assert parsed["torch-2.0.1"].requirements == ("torch==2.0.1", "lightning", "numpy<2", "setuptools<70")
    assert parsed["torch-2.10.0"].requirements == ("torch==2.10.0", "lightning", "numpy", "setuptools<80")


def test_a_table_can_name_the_package_itself() -> None:
    requirements = families.requirements("2.1", ["toy[gpu]=={version}", "toyplus"], FACTS)
    assert requirements == ("toy[gpu]==2.1", "toyplus", "numpy")
    assert families.requirements("1.5", [], FACTS) == ("toy==1.5", "numpy<2", "toylib==1.5")


def test_all_versions_get_one_python_where_one_fits_all_and_it_is_the_newest_such() -> None:
    assert families.chosen_pythons(["1.0", "2.5"], FACTS) == {"1.0": "3.9", "2.5": "3.9"}
    assert families.chosen_pythons(["2.0", "2.5"], FACTS) == {"2.0": "3.11", "2.5": "3.11"}


def test_a_version_that_shares_no_python_with_the_others_gets_the_nearest_to_theirs() -> None:
    assert families.chosen_pythons(["1.0", "2.5", "3.1"], FACTS) == {"1.0": "3.9", "2.5": "3.9", "3.1": "3.12"}
    assert families.chosen_pythons(["1.0", "3.1"], FACTS) == {"1.0": "3.9", "3.1": "3.12"}


def test_a_version_alone_gets_the_newest_python_that_it_supports() -> None:
    assert families.chosen_pythons(["3.1"], FACTS) == {"3.1": "3.13"}


def test_a_python_in_the_table_holds_for_all_versions() -> None:
    parsed = study_file.parse(study(python="3.8"))
    assert {parsed.environments[name].python for name in parsed.families["torch"]} == {"3.8"}


def test_of_versions_before_the_first_known_the_first_known_is_taken() -> None:
    assert families.release_of("0.9", FACTS) == FACTS.releases[0]
    assert families.release_of("1.9.9", FACTS) == FACTS.releases[0]
    assert families.release_of("2.0.0", FACTS) == FACTS.releases[1]
    assert families.release_of("2.0rc1", FACTS) == FACTS.releases[0]


@pytest.mark.parametrize("framework", [name for name in BUILT_IN.frameworks if BUILT_IN.facts(name).releases])
def test_the_facts_about_releases_are_in_order_and_name_pythons(framework: str) -> None:
    releases = BUILT_IN.facts(framework).releases
    assert list(releases) == sorted(releases, key=lambda one: family_names.order(one.since))
    for release in releases:
        oldest, newest = (tuple(map(int, python.split("."))) for python in release.pythons)
        assert (3, 7) <= oldest <= newest


def test_versions_are_in_order_of_release_not_of_their_letters() -> None:
    mixed = ["2.10.0", "2.9.0", "2.9.0.post1", "2.9.0rc2", "2.9.0b1", "2.9", "0.9.0.1"]
    assert family_names.sorted_versions(mixed) == ["0.9.0.1", "2.9.0b1", "2.9.0rc2", "2.9.0", "2.9.0.post1", "2.10.0"]


@pytest.mark.parametrize("version", HOSTILE)
def test_what_is_no_version_is_refused_with_its_place_and_the_remedy(version: str) -> None:
    said = errors_of(study(versions=["2.0.1", version]))
    assert len(said) == 1, said
    assert said[0].startswith("matrix.toml: environments.torch: versions: ")
    assert 'give a version such as "2.5.1"' in said[0]


@pytest.mark.parametrize("version", HOSTILE)
def test_what_is_no_version_names_no_session_and_no_folder(version: str) -> None:
    names = family_names.names({"torch": {"versions": ["2.0.1", version, 3, None]}})
    assert names == {"torch": ["torch-2.0.1"]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"versions": "2.0.1"},
            'versions: \'2.0.1\' is no range, such as ">=2.0,<3"; write a version in brackets: ["2.0.1"].',
        ),
        (
            {"versions": []},
            "versions: [] is empty; add at least one value, or remove the key. Versions of the framework",
        ),
        ({"versions": [2.0]}, 'versions: 2.0 must be a string; write it in quotes: "2.0".'),
        ({"versions": ["2.0", "2.0.0"]}, "versions: '2.0' and '2.0.0' are the same version; remove one."),
        ({"versions": ["2.0", "2.0"]}, "versions: '2.0' is listed twice; remove one."),
        (
            {"lock": "old", "provider": "container", "modes": ["eager"]},
            "versions: every version has a lock of its own; remove lock",
        ),
        ({"provider": "existing", "interpreter": "python3"}, "provider 'existing' installs nothing; remove versions"),
        ({"framework": "numpy", "modes": ["eager"]}, "versions: which Python the versions of NumPy support is not"),
        ({"modes": ["eager", "jit"]}, "modes: unknown torch mode 'jit'"),
        ({"modes": ["eagr"]}, "modes: unknown mode 'eagr'; did you mean 'eager'?"),
        ({"requirements": ["num py"]}, "requirements: 'num py' is not in pip's notation"),
        ({"versions": [f"2.{n}" for n in range(101)]}, "versions: 101 versions; a family has at most 100."),
    ],
)
def test_a_mistake_in_a_family_is_said_once_at_its_table(changes: dict[str, Any], said: str) -> None:
    (error,) = errors_of(study(**changes))
    assert error.startswith(f"matrix.toml: environments.torch: {said}")


def test_a_member_and_a_table_of_the_same_name_are_refused() -> None:
    tables = study()
    tables["environments"]["torch-2.0.1"] = TABLES["environments"]["old"]
    assert errors_of(tables) == [
        "matrix.toml: environments.torch: versions: the table [environments.'torch-2.0.1'] exists, too; "
        "remove it, or '2.0.1'."
    ]


def test_a_name_that_becomes_too_long_is_refused() -> None:
    tables = study()
    tables["environments"]["x" * 62] = tables["environments"].pop("torch")
    assert any("is too long for the name of an environment" in error for error in errors_of(tables))


def test_a_study_of_very_many_versions_is_refused_at_once() -> None:
    tables = study()
    many = [f"2.{number}" for number in range(100)]
    tables["environments"].update({f"t{number}": {**FAMILY, "versions": many} for number in range(11)})
    assert errors_of(tables) == ["matrix.toml: environments: 1,106 environments; a study has at most 1,000."]
    assert sum(map(len, family_names.names(tables["environments"]).values())) <= 1100


def test_a_family_can_be_a_default_and_be_selected_by_its_name_beside_others() -> None:
    tables = study()
    tables["study"]["default"] = ["torch"]
    parsed = study_file.parse(tables)
    chosen = dict.fromkeys(cell.environment for cell in select(parsed, Selection()).cells)
    assert list(chosen) == ["torch-1.13.1", "torch-2.0.1", "torch-2.10.0"]
    one = select(parsed, Selection(environments=["torch-2.0.1", "old"]))
    assert {cell.environment for cell in one.cells} == {"torch-2.0.1", "old"}
    assert parsed.named(["old", "torch", "torch-2.0.1"]) == ["old", *parsed.families["torch"]]


def test_a_version_that_is_older_than_a_mode_keeps_its_column_with_the_reason() -> None:
    plan = select(study_file.parse(study()), Selection(environments=["torch"], modes=["compile"]))
    assert {cell.environment for cell in plan.cells} == {"torch-2.0.1", "torch-2.10.0"}
    assert {(cell.environment, reason) for cell, reason in plan.excluded} == {
        ("torch-1.13.1", "mode 'compile' needs PyTorch 2.0")
    }


def test_a_baseline_and_an_exclusion_can_name_a_member() -> None:
    tables = study()
    tables["study"]["baseline"] = "torch-1.13.1:eager"
    tables["exclusions"] = [{"environment": "torch-2.0*", "reason": "broken"}]
    parsed = study_file.parse(tables)
    plan = select(parsed, Selection(environments=["torch"], modes=["eager"]))
    assert plan.baseline == "torch-1.13.1:eager"
    assert [reason for _cell, reason in plan.excluded] == ["broken"]


def test_a_family_in_a_file_is_as_one_in_tables(tmp_path: Path) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text(toml({**study(), "exclusions": TABLES["exclusions"]}), encoding="utf-8")
    assert study_file.load(path).families == study_file.parse(study()).families
