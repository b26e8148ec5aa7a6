"""Tests which files the build context of an image contains."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from tiny_framework import write_lock
from wheels import make_wheel

from bench.host.containers.context import Extras, build_arguments, write_context


def context_files(lock: bytes, extras: Extras) -> tuple[bytes, dict[str, bytes]]:
    file = io.BytesIO()
    write_context(file, dockerfile="FROM x\n", lock=lock, extras=extras)
    file.seek(0)
    with tarfile.open(fileobj=file) as archive:
        return file.getvalue(), {name: archive.extractfile(name).read() for name in archive.getnames()}


def test_only_wheels_that_the_lock_lists_are_sent(tmp_path):
    wheel = make_wheel(tmp_path / "wheels")
    lock = write_lock(tmp_path, wheel, "tiny").read_bytes()
    (tmp_path / "wheels" / "other-1.0-py3-none-any.whl").write_bytes(b"big")
    make_wheel(tmp_path / "forged", value=2)
    _, files = context_files(lock, Extras(wheels=(tmp_path / "wheels", tmp_path / "forged")))
    assert sorted(files) == ["Dockerfile", "extras/ca.crt", f"extras/wheels/{wheel.name}", "lock.txt"]
    assert files[f"extras/wheels/{wheel.name}"] == wheel.read_bytes()
    assert files["extras/ca.crt"] == b""


def test_the_same_files_give_the_same_context_for_the_builder_s_cache(tmp_path):
    wheel = make_wheel(tmp_path / "a")
    lock = write_lock(tmp_path, wheel, "tiny").read_bytes()
    make_wheel(tmp_path / "b")
    first, second = (context_files(lock, Extras(wheels=(tmp_path / name,)))[1] for name in "ab")
    assert first.keys() == second.keys()
    assert context_files(lock, Extras())[0] == context_files(lock, Extras())[0]


def test_pip_s_settings_apply_to_images(tmp_path):
    (tmp_path / "ca.pem").write_text("certificate")
    environ = {
        "PIP_CERT": str(tmp_path / "ca.pem"),
        "PIP_FIND_LINKS": f"{tmp_path} https://example.com/wheels /nowhere",
        "PIP_INDEX_URL": "https://mirror/simple",
        "HTTPS_PROXY": "http://proxy",
        "SECRET": "x",
    }
    extras = Extras.of(environ)
    assert extras == Extras(tmp_path / "ca.pem", (tmp_path,))
    assert context_files(b"", extras)[1]["extras/ca.crt"] == b"certificate"
    assert build_arguments(environ) == {"PIP_INDEX_URL": "https://mirror/simple", "HTTPS_PROXY": "http://proxy"}


def test_arguments_take_precedence_over_variables(tmp_path):
    for name in ("mine.pem", "set.pem"):
        (tmp_path / name).touch()
    (tmp_path / "wheels").mkdir()
    environ = {"PIP_CERT": str(tmp_path / "set.pem"), "PIP_FIND_LINKS": str(tmp_path)}
    named = Extras.of(environ, wheels=tmp_path / "wheels", ca=tmp_path / "mine.pem")
    assert named == Extras(tmp_path / "mine.pem", (tmp_path / "wheels",))
    assert Extras.of({"PIP_CERT": "/nowhere"}) == Extras()


def test_a_further_index_or_folder_is_added_to_what_pips_variables_name(tmp_path):
    usual = Extras.of({"PIP_FIND_LINKS": str(tmp_path)})
    assert usual.with_index(None) == usual
    assert usual.with_index("/cpu").wheels == (tmp_path, Path("/cpu"))
    address = "https://example.org/cpu"
    assert usual.with_index(address).wheels == (tmp_path,)
    environ = {"PIP_EXTRA_INDEX_URL": "https://example.org/own", "HOME": "/root"}
    assert build_arguments(environ, index=usual.with_index(address).index) == {
        "PIP_EXTRA_INDEX_URL": f"https://example.org/own {address}"
    }
    assert build_arguments(environ) == {"PIP_EXTRA_INDEX_URL": "https://example.org/own"}
