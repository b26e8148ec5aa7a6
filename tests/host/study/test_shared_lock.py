"""Tests that an environment takes over what the lock that it shares was made for, and what cannot go together."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.host.study.location import StudyError
from bench.host.study.study_file import parse

VENV = {
    "framework": "torch",
    "python": "3.11",
    "requirements": ["torch==1.13.1", "numpy<2"],
    "modes": ["eager", "torchscript"],
}
CONTAINER = {"provider": "container", "framework": "torch", "lock": "venv", "modes": ["eager"]}


def study(**container):
    return {
        "study": {"name": "example", "baseline": "venv:eager", "default": ["venv"], "profile": "quick"},
        "environments": {"venv": VENV, "image": {**CONTAINER, **container}},
        "workloads": {"mlp-train": {}},
        "profiles": {"quick": {"rounds": 3, "samples": 10, "sample_seconds": 0.01, "sizes": ["tiny"]}},
    }


def test_a_container_has_the_python_and_the_requirements_of_its_venv():
    image = parse(study()).environments["image"]
    assert (image.python, image.requirements) == ("3.11", ("torch==1.13.1", "numpy<2"))
    assert image.dockerfile == "cpu"


def test_a_venv_that_shares_a_lock_has_all_that_the_installation_is_made_from():
    tables = study(provider="venv", preload=["own.c", "/usr/lib/other.so"])
    tables["environments"]["venv"] = {**VENV, "interpreter": "/opt/python3.11"}
    sharing = parse(tables, folder=Path("/studies")).environments["image"]
    assert (sharing.python, sharing.requirements) == ("3.11", ("torch==1.13.1", "numpy<2"))
    assert sharing.interpreter == "/opt/python3.11"
    assert sharing.preload == ("/studies/own.c", "/usr/lib/other.so")


def test_a_lock_that_is_shared_itself_cannot_be_shared():
    tables = study(provider="venv")
    tables["environments"]["third"] = {**CONTAINER, "provider": "venv", "lock": "image"}
    with pytest.raises(StudyError, match="lock: unknown venv 'image'"):
        parse(tables)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"lock": "venw"}, "lock: unknown venv 'venw'; did you mean 'venv'?"),
        ({"lock": "image"}, "lock: unknown venv 'image'"),
        ({"python": "3.11"}, "lock: 'venv' brings its python; remove python, or lock."),
        ({"requirements": ["torch==2.0"]}, "lock: 'venv' brings its requirements; remove requirements, or lock."),
        ({"framework": "jax"}, "lock: 'venv' has framework 'torch', this environment 'jax'."),
        ({"modes": ["compile"]}, "mode 'compile' needs PyTorch 2.0; this environment pins torch==1.13.1."),
        ({"interpreter": "python3"}, "provider 'container' uses the Python of its image; remove interpreter"),
        ({"provider": "venv", "base": "x"}, "provider 'venv' has no image; remove base, or use provider 'container'."),
        ({"provider": "existing", "interpreter": "python3"}, "provider 'existing' installs nothing; remove lock"),
        ({"provider": "venv", "python": "3.11"}, "lock: 'venv' brings its python; remove python, or lock."),
        ({"provider": "venv", "allow_source": True}, "lock: 'venv' brings its allow_source; remove allow_source"),
        ({"preload": ["a.so"]}, "provider 'container' loads what its image has; remove preload"),
        (
            {"provider": "venv", "preload": ["a.so"], "variables": {"LD_PRELOAD": "b.so"}},
            "variables: preload sets LD_PRELOAD; remove one of the two.",
        ),
        ({"dockerfile": "rocm"}, "dockerfile: 'rocm': must be 'cpu' or 'cuda'."),
        ({"driver": "new"}, "driver: 'new': give a version such as \"580.65.06\"."),
        ({"system_packages": ["g++; rm -rf /"]}, "use lower-case letters, digits"),
        ({"system_packages": ["--allow-unauthenticated"]}, "use lower-case letters, digits"),
    ],
)
def test_what_does_not_go_together_is_said(changes, problem):
    with pytest.raises(StudyError) as caught:
        parse(study(**changes))
    assert any(problem in error for error in caught.value.errors), caught.value.errors


@pytest.mark.parametrize("provider", ["venv", "container"])
def test_a_misnamed_lock_is_the_only_problem_of_its_environment(provider):
    with pytest.raises(StudyError) as caught:
        parse(study(provider=provider, lock="venw"))
    (problem,) = caught.value.errors
    assert "lock: unknown venv 'venw'; did you mean 'venv'?" in problem


def test_an_interpreter_that_is_there_shares_no_lock_and_hears_of_nothing_else():
    tables = study(provider="existing", interpreter="python3")
    with pytest.raises(StudyError) as caught:
        parse(tables)
    (problem,) = caught.value.errors
    assert "provider 'existing' installs nothing; remove lock, or use provider 'venv'." in problem


def test_a_container_with_a_lock_of_its_own_needs_python_and_requirements():
    tables = study()
    del tables["environments"]["image"]["lock"]
    with pytest.raises(StudyError) as caught:
        parse(tables)
    assert any("provider 'container' needs python" in error for error in caught.value.errors)
