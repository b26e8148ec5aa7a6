"""Tests what a plan takes from profile and options: sizes, twin, looks, budget, interpreters."""

from __future__ import annotations

import pytest
from example_study import ALL, options, plan_of, rows, study

from bench.host.commands import study_options
from bench.host.study.location import StudyError
from bench.host.study.selection import Selection, select


def test_interpreters_of_the_command_line_replace_those_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACK", "/opt/stack")
    replaced = study_options.with_interpreters(study(), options("--interpreter", "jax=$STACK/bin/python=3"))
    assert replaced.environments["jax"].interpreter == "/opt/stack/bin/python=3"
    assert replaced.environments["old"].interpreter == "python3"
    with pytest.raises(StudyError, match=r"--interpreter: unknown environment 'jx'; did you mean 'jax'\?"):
        study_options.with_interpreters(study(), options("--interpreter", "jx=python3"))


def test_a_container_takes_no_interpreter_of_the_command_line() -> None:
    plain = study()
    container = plain.environments["jax"].model_copy(update={"provider": "container"})
    changed = plain.model_copy(update={"environments": {**plain.environments, "jax": container}})
    with pytest.raises(StudyError, match=r"--interpreter: environment jax is a container, which has the interpreter"):
        study_options.with_interpreters(changed, options("--interpreter", "jax=python3"))


def test_environments_that_share_an_installation_take_the_interpreter_of_the_command_line_from_its_owner() -> None:
    plain = study()
    old = plain.environments["old"].model_copy(update={"provider": "venv"})
    sharing = old.model_copy(update={"name": "sharing", "lock": "old"})
    image = sharing.model_copy(update={"name": "image", "provider": "container", "interpreter": None})
    added = {"old": old, "sharing": sharing, "image": image}
    changed = plain.model_copy(update={"environments": {**plain.environments, **added}})
    replaced = study_options.with_interpreters(changed, options("--interpreter", "old=/opt/python")).environments
    # Of two interpreters, each would replace the installation that is made from the other.
    assert [replaced[name].interpreter for name in added] == ["/opt/python", "/opt/python", None]
    with pytest.raises(StudyError, match=r"--interpreter: environment sharing has the installation of old; name that"):
        study_options.with_interpreters(changed, options("--interpreter", "sharing=/opt/python"))


def test_a_profile_can_give_a_workload_other_sizes() -> None:
    quick = {
        "rounds": 3,
        "samples": 10,
        "sample_seconds": 0.01,
        "sizes": ["tiny"],
        "sizes_of": {"mlp-train": ["small"]},
    }
    found = study(profiles={"quick": quick})
    assert list(rows(select(found, Selection()))) == [
        "transformer-encoder/tiny/float32/cpu",
        "mlp-train/small/float32/cpu",
    ]
    chosen = select(found, Selection(sizes=["tiny"]))
    assert [row.split("/")[1] for row in rows(chosen)] == ["tiny", "tiny"], "--size goes before the profile"


def test_a_profile_with_a_twin_measures_the_baseline_twice() -> None:
    profiles = {"quick": {"rounds": 10, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"], "twin": True}}
    plan = select(study(profiles=profiles), Selection(environments=["old", "jax"]))
    twins = [cell for cell in plan.cells if cell.environment == "old~twin"]
    assert {cell.mode for cell in twins} == {"eager"}
    assert len(twins) == len({cell.row for cell in plan.cells})
    assert not any(cell.environment == "old~twin" for cell in plan_of().cells)
    assert any(cell.environment == "old~twin" for cell in plan_of("--budget", "10m").cells)


def test_the_looks_follow_the_profile_and_a_budget_makes_room_for_more() -> None:
    assert plan_of().looks == (3,)
    first, *_, last = plan_of("--budget", "10m").looks
    assert (first, last) == (10, 20)
    profiles = {"quick": {"rounds": 10, "most_rounds": 30, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"]}}
    looks = select(study(profiles=profiles), ALL).looks
    assert 10 <= looks[0] < looks[-1] == 30
    assert 2 < len(looks) < 6


def test_a_budget_and_a_cap_reach_the_plan() -> None:
    plan = plan_of("--budget", "10m", "--largest-batch", "2GiB")
    assert (plan.budget_s, plan.memory_cap_bytes) == (600.0, 2 << 30)
    assert (plan_of().budget_s, plan_of().memory_cap_bytes) == (None, None)


def test_strictness_is_off_unless_asked_for() -> None:
    assert (plan_of().strict, plan_of("--strict").strict) == (False, True)


def test_fewer_rounds_at_most_than_at_first_is_a_mistake() -> None:
    profiles = {"quick": {"rounds": 9, "most_rounds": 3, "samples": 1, "sample_seconds": 0.1, "sizes": ["tiny"]}}
    with pytest.raises(StudyError, match="most_rounds: 3 is less than rounds = 9"):
        study(profiles=profiles)
