"""Tests how frameworks, modes and workloads are found, in this package and in other people's folders."""

import os

import pytest

from bench.frameworks.facts import Facts
from bench.program import Unsupported
from bench.registry import BENCH, BUILT_IN, Registry

FACTS = """
from bench.frameworks.facts import Facts, Mode
FACTS = Facts(product="Toy", distribution="toy", import_name="toy", modes=(Mode("eager"), Mode("fast")))
"""


@pytest.fixture
def mine(tmp_path):
    """Make a folder with a framework, a mode for numpy, a workload and two implementations."""
    for name, text in (
        ("frameworks/toy/facts.py", FACTS),
        ("frameworks/toy/adapter.py", "NAME = 'toy'\n"),
        ("frameworks/numpy/modes.py", "from bench.frameworks.facts import Mode\nMODES = (Mode('checked'),)\n"),
        ("workloads/two_words/__init__.py", "from .parts import SIZES\n"),
        ("workloads/two_words/parts.py", "SIZES = {'check': {}}\n"),
        ("workloads/two_words/toy.py", "from . import SIZES\n\n\ndef build(*_):\n    return SIZES['none']\n"),
        ("workloads/gemm/toy.py", "def build(*_):\n    return 'gemm in toy'\n"),
        ("outputs/figure.py", ""),
    ):
        path = tmp_path / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Registry.of({"mine": str(tmp_path / "mine")})


@pytest.mark.parametrize("framework", BUILT_IN.frameworks)
def test_our_own_frameworks_have_facts_and_an_adapter(framework):
    facts = BUILT_IN.facts(framework)
    assert isinstance(facts, Facts)
    assert all((facts.product, facts.distribution, facts.import_name, facts.modes))
    assert len(set(facts.mode_names)) == len(facts.modes)
    assert os.path.isfile(BENCH.path("frameworks", framework, "adapter.py"))


def test_what_a_folder_holds_is_added_to_our_own(mine):
    assert mine.frameworks == (*BUILT_IN.frameworks, "toy")
    assert mine.workloads == (*BUILT_IN.workloads, "two-words")
    assert mine.facts("toy").mode_names == ("eager", "fast")
    assert mine.adapter("toy").NAME == "toy"
    assert mine.specification("two-words").SIZES == {"check": {}}
    assert mine.implementation("gemm", "toy")() == "gemm in toy"
    assert mine.has_implementation("gemm", "numpy")
    assert [os.path.basename(path) for path in mine.output_files] == ["figure.py"]


def test_a_mode_can_be_added_to_a_framework_of_ours(mine):
    assert mine.facts("numpy").mode_names == (*BUILT_IN.facts("numpy").mode_names, "checked")
    assert mine.extension("numpy", "checked").MODES[0].name == "checked"
    assert mine.extension("numpy", "eager") is None
    assert BUILT_IN.extension("numpy", "checked") is None


def test_our_own_registry_stays_as_it_is(mine):
    assert "toy" not in BUILT_IN.frameworks
    assert "checked" not in BUILT_IN.facts("numpy").mode_names


def test_a_registry_can_be_sent_as_names_and_folders(mine):
    assert Registry.of(mine.others) == mine
    assert BUILT_IN.others == {}


@pytest.mark.parametrize("name", ["absent", "two_words", "../gemm", "", "layers"])
def test_an_unknown_workload_is_refused_with_the_known_ones(mine, name):
    with pytest.raises(ValueError, match=r"unknown workload .*; known: .*two-words"):
        mine.specification(name)


@pytest.mark.parametrize("name", ["absent", "../frameworks/numpy", "", "loaded"])
def test_an_unknown_framework_is_refused_with_the_known_ones(mine, name):
    with pytest.raises(ValueError, match=r"unknown framework .*; known: .*toy"):
        mine.facts(name)


def test_folders_that_python_cannot_import_are_not_there(mine):
    before = mine.workloads, mine.frameworks
    for file in ("workloads/two-words-more/__init__.py", "workloads/2d/__init__.py", "frameworks/my-own/facts.py"):
        path = os.path.join(mine.sources[1].folder, file)
        os.makedirs(os.path.dirname(path))
        open(path, "w").close()
    assert (mine.workloads, mine.frameworks) == before
    with pytest.raises(ValueError, match="unknown workload 'two-words-more'"):
        mine.specification("two-words-more")
    with pytest.raises(ValueError, match="unknown framework 'my-own'"):
        mine.facts("my-own")


def test_a_missing_implementation_is_unsupported(mine):
    with pytest.raises(Unsupported, match="workload two-words has no numpy implementation"):
        mine.implementation("two-words", "numpy")


def test_two_folders_of_one_name_are_two_packages(tmp_path):
    for number in (1, 2):
        folder = tmp_path / str(number) / "mine" / "workloads" / "own"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("NUMBER = {}\n".format(number))
    found = [Registry.of({"mine": str(tmp_path / str(number) / "mine")}) for number in (1, 2)]
    assert [registry.specification("own").NUMBER for registry in found] == [1, 2]


def test_an_error_is_placed_at_the_innermost_line_of_a_source(mine):
    with pytest.raises(KeyError) as caught:
        mine.implementation("two-words", "toy")()
    assert mine.place_of(caught.value) == "mine/workloads/two_words/toy.py:5"
    assert BUILT_IN.place_of(caught.value) == ""


def test_an_error_elsewhere_has_no_place():
    with pytest.raises(ValueError, match="unknown workload") as caught:
        BUILT_IN.specification("absent")
    assert BUILT_IN.place_of(caught.value) == ""
