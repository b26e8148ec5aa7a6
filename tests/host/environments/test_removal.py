"""Tests that environments are removed to fit into a limit, and that those in use stay."""

from __future__ import annotations

from bench.host.environments import load_outcome, prepare, removal
from bench.host.environments.outcome import folder_of


def test_the_largest_that_is_not_needed_goes_first(tmp_path):
    for name, size in (("a", 500), ("b", 300), ("c", 200), ("other", 10_000)):
        place = folder_of(tmp_path) / name
        place.mkdir(parents=True)
        (place / "manifest.json").write_text(f'{{"size_bytes": {size}}}')
    said: list[str] = []
    removal.prune(["a", "b", "c", "absent"], ["a"], 700, tmp_path, said.append)
    assert {path.name for path in folder_of(tmp_path).iterdir() if path.is_dir()} == {"a", "c", "other"}
    assert [line.split(":")[0] for line in said] == ["b"]
    removal.prune(["a", "c"], ["a", "c"], 0, tmp_path, said.append)
    assert len(said) == 1


def test_an_environment_that_was_removed_is_built_again(locked, root, said, announce):
    first = prepare(locked, root=root, announce=announce)
    assert removal.size_bytes("tiny", root) == first.manifest["size_bytes"]
    removal.remove("tiny", root, announce)
    assert removal.size_bytes("tiny", root) == 0
    assert load_outcome("tiny", root=root) is None
    said.clear()
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert any("building with" in line for line in said)
