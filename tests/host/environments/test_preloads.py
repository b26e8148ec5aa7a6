"""Libraries that workers load before all others are compiled and loaded here for real."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from bench.host import environments
from bench.host.environments import forecast, load_outcome, outcome, preloads, prepare, venv

SOURCE = "int answer_of_the_test(void) { return 42; }\n"
ASKING = "import ctypes; print(ctypes.CDLL(None).answer_of_the_test())"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD is of Linux")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "answer.c"
    path.write_text(SOURCE)
    return path


def prepared_with(locked, root, announce, *paths):
    return prepare(replace(locked, preload=tuple(map(str, paths))), root=root, announce=announce)


def test_a_source_is_compiled_and_its_library_loaded_before_all_others(locked, root, announce, source):
    prepared = prepared_with(locked, root, announce, source)
    assert prepared.status == "ok"
    library = prepared.manifest["variables"]["LD_PRELOAD"]
    assert library.startswith(str(root))
    assert library.endswith("/answer.so")
    environ = {**os.environ, **prepared.manifest["variables"]}
    done = subprocess.run([*prepared.command, "-c", ASKING], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "42\n"
    assert list(prepared.manifest[preloads.KEY]) == ["answer.c"]
    assert load_outcome("tiny", root=root) == prepared
    made = os.stat(library).st_mtime_ns
    assert prepared_with(locked, root, announce, source) == prepared
    assert os.stat(library).st_mtime_ns == made

    # Another source is another library: what was compiled with the first one is not mixed up with it.
    source.write_text(SOURCE.replace("42", "43"))
    other = prepared_with(locked, root, announce, source)
    assert other.manifest["variables"]["LD_PRELOAD"] != library
    assert other.manifest[preloads.KEY] != prepared.manifest[preloads.KEY]


def test_a_library_is_taken_as_it_is_and_others_stay_behind_it(locked, root, announce, tmp_path):
    library = tmp_path / "liballocator.so.2"
    library.write_bytes(b"anything")
    assert prepared_with(locked, root, announce, library).manifest["variables"]["LD_PRELOAD"] == str(library)
    before = environments.Prepared("x", "ok", manifest={"variables": {"LD_PRELOAD": "/of/a/module.so"}})
    added = preloads.added(before, [str(library)], root)
    assert added.manifest["variables"] == {"LD_PRELOAD": f"{library}:/of/a/module.so"}


def test_what_is_wrong_with_a_library_is_the_outcome(locked, root, announce, tmp_path, source):
    prepared = prepared_with(locked, root, announce, tmp_path / "absent.so")
    assert prepared.status == "failed"
    assert "absent.so cannot be read: No such file or directory" in prepared.reason

    apart = tmp_path / "a folder"
    apart.mkdir()
    shutil.copy(source, apart / "answer.so")
    prepared = prepared_with(locked, root, announce, apart / "answer.so")
    assert prepared.status == "failed"
    assert "has a space or a colon in its path" in prepared.reason

    source.write_text("this is no C")
    prepared = prepared_with(locked, root, announce, source)
    assert prepared.status == "failed"
    assert "answer.c cannot be compiled" in prepared.reason
    assert "error" in prepared.reason
    assert not list((root / ".nox" / "preloads").glob("*/"))


def test_what_is_no_library_is_the_outcome_and_not_read_for_ever(root, tmp_path, source, monkeypatch):
    os.mkfifo(tmp_path / "pipe.so")
    with (tmp_path / "huge.so").open("wb") as file:
        file.truncate(preloads.LARGEST_BYTES + 1)
    ready = environments.Prepared("x", "ok")
    for named, said in [
        (tmp_path / "pipe.so", "pipe.so is not a regular file"),
        ("/dev/zero", "/dev/zero is not a regular file"),
        (tmp_path, "is not a regular file; name a library, or a C source"),
        (tmp_path / "huge.so", "huge.so has more than 4 GiB"),
    ]:
        with pytest.raises(preloads.NotMade, match=said):
            preloads.added(ready, [str(named)], root)
        assert said in preloads.states([str(named)])[0]
    monkeypatch.setenv("CC", "gcc '")
    with pytest.raises(preloads.NotMade, match="CC is no command: No closing quotation"):
        preloads.added(ready, [str(source)], root)


def test_sources_of_one_content_and_two_names_are_two_libraries(root, tmp_path, source):
    ready = environments.Prepared("x", "ok")
    shutil.copy(source, tmp_path / "other.c")
    found = [
        preloads.added(ready, [str(each)], root).manifest["variables"]["LD_PRELOAD"]
        for each in (source, tmp_path / "other.c")
    ]
    assert [os.path.basename(path) for path in found] == ["answer.so", "other.so"]
    assert all(map(os.path.exists, found))


def test_a_source_that_includes_another_file_is_refused_as_a_change_of_that_would_not_be_noticed(root, source):
    (source.parent / "own.h").write_text("")
    source.write_text('# include "own.h"\n' + SOURCE)
    with pytest.raises(preloads.NotMade, match=r"answer\.c includes a file in quotes"):
        preloads.added(environments.Prepared("x", "ok"), [str(source)], root)
    source.write_text("#include <stddef.h>\n" + SOURCE)
    assert preloads.added(environments.Prepared("x", "ok"), [str(source)], root).manifest[preloads.KEY]


def test_two_libraries_of_one_name_are_refused_as_a_report_could_not_tell_them_apart(root, tmp_path, source):
    (tmp_path / "theirs").mkdir()
    shutil.copy(source, tmp_path / "theirs")
    with pytest.raises(preloads.NotMade, match=r"two libraries are called answer\.so"):
        preloads.added(environments.Prepared("x", "ok"), [str(source), str(tmp_path / "theirs" / source.name)], root)


def test_a_machine_without_a_compiler_cannot_have_it(root, source, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(preloads.shutil, "which", lambda name: None)
    with pytest.raises(preloads.Impossible, match="needs a C compiler"):
        preloads.added(environments.Prepared("x", "ok"), [str(source)], root)
    # Nothing is compiled where the environment itself is not there.
    missing = environments.outcome.failed("x", "so")
    assert preloads.added(missing, [str(source)], root) == missing


def test_another_system_cannot_have_it(root, source, monkeypatch):
    monkeypatch.setattr(preloads.sys, "platform", "darwin")
    with pytest.raises(preloads.Impossible, match="this is darwin"):
        preloads.added(environments.Prepared("x", "ok"), [str(source)], root)


def test_what_a_machine_cannot_have_is_the_outcome(locked, root, announce, source, monkeypatch):
    monkeypatch.setenv("CC", "/absent/cc -g")
    prepared = prepared_with(locked, root, announce, source)
    assert prepared.status == "failed"
    assert "/absent/cc" in prepared.reason


def test_environments_that_share_a_lock_share_the_installation(locked, root, announce, said):
    sharing = replace(locked, name="other", lock="tiny")
    assert forecast.unbuilt([locked, sharing], root) == [locked]
    assert next(forecast.forecast([sharing], root)).startswith("To build first: tiny:")
    other = prepare(sharing, root=root, announce=announce)
    first = prepare(locked, root=root, announce=announce)
    assert other.command == first.command
    assert (other.name, first.name) == ("other", "tiny")
    assert sum("building with" in line for line in said) == 1
    assert forecast.unbuilt([locked, sharing], root) == []
    assert environments.altered({"other": other, "tiny": first}, root) == {}
    assert load_outcome("other", root=root) == other


def test_an_installation_does_not_remember_what_one_of_its_environments_preloads(locked, root, announce, tmp_path):
    library = tmp_path / "liballocator.so.2"
    library.write_bytes(b"anything")
    sharing = replace(locked, name="other", lock="tiny", preload=(str(library),))
    first, other = (prepare(each, root=root, announce=announce) for each in (locked, sharing))
    # A file with another time and the same content, as after a copy: the manifest is written again.
    place = outcome.folder_of(root) / "tiny"
    os.utime(place / "pyvenv.cfg", (1, 1))
    assert environments.altered({"other": other}, root) == {}
    stored = json.loads((place / venv.MANIFEST).read_bytes())
    assert "LD_PRELOAD" not in stored["variables"]
    assert preloads.KEY not in stored
    assert prepare(locked, root=root, announce=announce).manifest["variables"] == first.manifest["variables"]
    assert prepare(sharing, root=root, announce=announce).manifest["variables"]["LD_PRELOAD"] == str(library)


@pytest.mark.parametrize("names", [{"name": "host"}, {"name": "other", "lock": "host"}])
def test_no_environment_is_made_from_a_lock_of_benchmatrix_itself(locked, root, announce, names):
    prepared = prepare(replace(locked, **names), root=root, announce=announce)
    assert prepared.reason == "'host' is the name of an environment of benchmatrix itself; choose another"
    assert not (outcome.folder_of(root) / "host").exists()
