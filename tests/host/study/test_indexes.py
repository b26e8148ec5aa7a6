"""Tests which environments get the index with PyTorch's CPU builds, and which addresses are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_tables import changed

from bench.host.study.location import StudyError
from bench.host.study.study_file import parse

VARIABLE = "BENCHMATRIX_TORCH_CPU_INDEX"
CPU = {
    "venv": {"python": "3.11", "requirements": ["torch==2.13.0", "numpy"]},
    "container": {"provider": "container", "python": "3.11", "requirements": ["Torch>=2.13"]},
}
USUAL = {
    "cuda": {"provider": "container", "dockerfile": "cuda", "python": "3.11", "requirements": ["torch==2.13.0"]},
    "source": {"python": "3.11", "requirements": ["torch==2.13.0"], "allow_source": True},
    "existing": {"provider": "existing", "interpreter": "python3"},
    "other": {"python": "3.11", "requirements": ["torchvision==0.28.0"]},
}


def study(folder: Path, torch_cpu: str | None = None):
    environments = {
        name: {"framework": "torch", "modes": ["eager"], **values} for name, values in {**CPU, **USUAL}.items()
    }
    tables = changed("environments", value=environments)
    tables["study"] = {**tables["study"], "baseline": "venv:eager", "default": ["venv"]}
    tables["exclusions"] = []
    tables["claims"] = {}
    tables["indexes"] = {} if torch_cpu is None else {"torch_cpu": torch_cpu}
    return parse(tables, folder=folder)


def addresses(found) -> dict[str, str]:
    return {name: each.cpu_index for name, each in found.environments.items() if each.cpu_index is not None}


@pytest.fixture(autouse=True)
def without_variable(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def test_environments_that_install_pytorch_for_processors_get_the_index(tmp_path):
    assert addresses(study(tmp_path)) == {}
    address = "https://example.org/whl/cpu"
    assert addresses(study(tmp_path, address)) == dict.fromkeys(CPU, address)


def test_a_folder_begins_where_the_study_file_lies(tmp_path, monkeypatch):
    monkeypatch.setenv("WHEELS", "wheels")
    assert set(addresses(study(tmp_path, "$WHEELS")).values()) == {str(tmp_path / "wheels")}


def test_the_variable_goes_before_the_study_file(tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv(VARIABLE, str(elsewhere))
    assert set(addresses(study(tmp_path, "wheels")).values()) == {str(elsewhere)}
    monkeypatch.setenv(VARIABLE, "")
    assert set(addresses(study(tmp_path, "wheels")).values()) == {str(tmp_path / "wheels")}


def test_a_folder_that_a_variable_names_and_that_is_missing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nope"))
    with pytest.raises(StudyError, match=r"BENCHMATRIX_TORCH_CPU_INDEX: '\S+nope' is no folder\. Name one with wheels"):
        study(tmp_path, "wheels")


def test_an_address_changes_nothing_that_identifies_a_run(tmp_path):
    given, usual = (study(tmp_path, address).environments["venv"] for address in ("https://a:b@example.org/", None))
    assert given.model_dump() == usual.model_dump()
    assert "a:b" not in repr(given)


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/whl",
        "ftp://x/y",
        "file:///opt/wheels",
        "https://",
        " ",
        "a\nb",
        "http://localhost.example.org/",
    ],
)
def test_an_address_that_could_be_changed_on_its_way_is_refused(tmp_path, monkeypatch, address):
    with pytest.raises(StudyError, match="indexes: torch_cpu: "):
        study(tmp_path, address)
    monkeypatch.setenv(VARIABLE, address)
    with pytest.raises(StudyError, match=f"{VARIABLE}: "):
        study(tmp_path)
