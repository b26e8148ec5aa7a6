from __future__ import annotations

import pytest
from wheels import PYTHON, REPOSITORY, Wanted, make_script, make_wheel

from bench.host import project
from bench.host.environments import locks, source_builds
from bench.host.environments.locks import LockRequest
from bench.host.environments.source_builds import LockError
from bench.host.study import study_file


@pytest.fixture
def renewed(root, index, announce):
    """The lock that uv makes of what an index has."""
    index(make_wheel(root), make_wheel(root, version="0.9"))
    return locks.lock(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root, announce=announce)


def test_a_lock_has_the_newest_version_and_its_hash_and_no_path(renewed, tmp_path):
    text = renewed.read_text()
    assert "tinyframe==1.0" in text
    assert "--hash=sha256:" in text
    assert str(tmp_path) not in text
    assert "://" not in text


def test_a_lock_fits_what_it_was_made_for(renewed, root):
    assert locks.verify(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root) == renewed
    for requirements, python in (
        (("tinyframe", "numpy"), PYTHON),
        (("tinyframe==1",), PYTHON),
        (("tinyframe",), "3.99"),
    ):
        with pytest.raises(LockError, match=r"other requirements .* Run: nox -s lock -- tiny"):
            locks.verify(LockRequest("tiny", python, requirements), root=root)


def test_the_order_and_spacing_of_requirements_do_not_matter():
    first, second = (LockRequest("tiny", "3.11", given) for given in (("a", "b ==1"), ("b  ==1", "a")))
    assert locks.fingerprint(first) == locks.fingerprint(second)


def test_a_changed_lock_is_refused(renewed, root):
    renewed.write_text(renewed.read_text().replace("tinyframe==1.0", "tinyframe==0.9"))
    with pytest.raises(LockError, match="changed after it was generated"):
        locks.verify(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root)


def test_line_ends_of_another_platform_are_no_change(renewed, root):
    renewed.write_bytes(renewed.read_bytes().replace(b"\n", b"\r\n"))
    assert locks.verify(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root) == renewed


def test_a_missing_lock_is_named_with_the_remedy(root):
    with pytest.raises(LockError, match=r"locks/none.txt cannot be read: .* Run: nox -s lock -- none"):
        locks.verify(LockRequest("none", "3.11", ()), root=root)


def test_a_requirement_from_a_path_is_refused(root, wheels, announce):
    wheel = make_wheel(wheels)
    with pytest.raises(LockError, match="is an address"):
        locks.lock(LockRequest("tiny", PYTHON, (f"tinyframe @ file://{wheel}",)), root=root, announce=announce)
    assert not locks.lock_path("tiny", root).exists()


def test_a_package_without_a_hash_is_refused(root, wheels, announce):
    make_wheel(wheels)
    with pytest.raises(LockError, match=r"'tinyframe==1.0' has no hash"):
        locks.lock(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root, announce=announce)


def test_what_cannot_be_resolved_keeps_the_old_lock(renewed, root, announce):
    before = renewed.read_text()
    with pytest.raises(LockError, match=r"locks/tiny.txt cannot be made: .*No solution found"):
        locks.lock(LockRequest("tiny", PYTHON, ("tinyframe>2",)), root=root, announce=announce)
    assert renewed.read_text() == before


def test_without_uv_the_remedy_is_said(root, announce, monkeypatch):
    monkeypatch.setattr(locks, "find_uv", lambda root: None)
    with pytest.raises(LockError, match="pipx install uv"):
        locks.lock(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root, announce=announce)


def test_the_named_locks_are_renewed_and_unknown_names_refused(root, index, announce):
    index(make_wheel(root))
    (root / "pyproject.toml").write_text((REPOSITORY / "pyproject.toml").read_text())
    environments = {"tiny": Wanted(), "there": Wanted(name="there", provider="existing", python=None)}
    assert locks.renew(environments, ["tiny"], root=root, announce=announce) == [root / "locks" / "tiny.txt"]
    with pytest.raises(LockError, match=r"no lock 'there' to make; there are: .*worker, .*tiny$"):
        locks.renew(environments, ["tiny", "there"], root=root, announce=announce)


@pytest.fixture
def packaged(root, tmp_path, monkeypatch):
    """A lock that comes with the package, for a project without locks."""
    monkeypatch.setattr(project, "PACKED", tmp_path / "data")
    content = "tinyframe==1.0 \\\n    --hash=sha256:00"
    return locks.write(LockRequest("tiny", PYTHON, ("tinyframe==1.0",)), content, root=tmp_path / "data")


def test_a_lock_of_the_package_is_used_where_it_fits(packaged, root, announce):
    assert locks.present(LockRequest("tiny", PYTHON, ("tinyframe==1.0",)), root=root, announce=announce) == packaged


def test_a_lock_of_the_package_for_other_requirements_is_passed_over(packaged, root, index, announce):
    index(make_wheel(root))
    made = locks.present(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root, announce=announce)
    assert made == root / "locks" / "tiny.txt"
    assert "00" in packaged.read_text().splitlines()[-1]


def test_a_lock_of_the_project_goes_before_that_of_the_package(packaged, root, announce):
    own = locks.write(
        LockRequest("tiny", PYTHON, ("tinyframe==1.0",)), "tinyframe==1.0 \\\n    --hash=sha256:11", root=root
    )
    assert locks.present(LockRequest("tiny", PYTHON, ("tinyframe==1.0",)), root=root, announce=announce) == own


def test_somebody_elses_project_file_is_not_taken_for_ours(root, index, announce):
    index(make_wheel(root))
    (root / "pyproject.toml").write_text('[project]\nname = "paper"\n')
    with pytest.raises(LockError, match=r"no lock 'host' to make; there are: tiny$"):
        locks.renew({"tiny": Wanted()}, ["host"], root=root, announce=announce)


def test_a_study_without_a_lock_says_so(root, announce):
    there = {"there": Wanted(name="there", provider="existing", python=None)}
    with pytest.raises(LockError, match="no lock 'there' to make; no environment of the study has one of its own"):
        locks.renew(there, ["there"], root=root, announce=announce)
    assert locks.renew(there, [], root=root, announce=announce) == []


def test_a_broken_uv_is_a_lock_error(root, tmp_path, announce, monkeypatch):
    uv = make_script(tmp_path / "uv", "echo boom; exit 1")
    monkeypatch.setattr(locks, "find_uv", lambda root: str(uv))
    with pytest.raises(LockError, match="boom"):
        locks.lock(LockRequest("tiny", PYTHON, ("tinyframe",)), root=root, announce=announce)


@pytest.mark.parametrize("name", locks.OWN)
def test_the_committed_locks_of_benchmatrix_fit_the_project_file(name):
    python, requirements = locks.own(REPOSITORY)[name]
    path = locks.verify(LockRequest(name, python, requirements), root=REPOSITORY)
    assert "uv==" in path.read_text() or name not in ("host", "dev")


STUDIES = [REPOSITORY / "matrix.toml", *sorted((REPOSITORY / "studies").glob("*.toml"))]


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_committed_locks_fit_every_study(path):
    study = study_file.load(path)
    built = [environment for environment in study.environments.values() if environment.provider != "existing"]
    assert built
    for environment in built:
        build = source_builds.build_requirements(environment)
        lock = environment.lock_owner
        locks.verify(LockRequest(lock, environment.python, environment.requirements, build=build), root=REPOSITORY)
        if environment.version is not None:
            package = environment.requirements[0].partition("==")[0]
            assert f"\n{package}=={environment.version} " in locks.lock_path(lock, REPOSITORY).read_text()


def test_studies_of_versions_have_several():
    studies = [study_file.load(path) for path in STUDIES if path.stem.endswith("versions")]
    assert len(studies) >= 5
    assert all(max(map(len, study.families.values())) >= 2 for study in studies)


def test_no_committed_lock_names_an_address_or_a_path():
    for path in (REPOSITORY / "locks").glob("*.txt"):
        content = "\n".join(path.read_text().splitlines()[4:])
        assert locks.TIED.search(content) is None, path


def test_a_lock_that_cannot_be_made_does_not_keep_the_others_from_being_made(root, index, announce):
    index(make_wheel(root))
    environments = {"none": Wanted(name="none", requirements=("tinyframe==9",)), "tiny": Wanted()}
    with pytest.raises(LockError, match=r"^locks/none.txt cannot be made"):
        locks.renew(environments, ["none", "tiny"], root=root, announce=announce)
    assert locks.lock_path("tiny", root).exists()
