"""Tests that the documentation agrees with the program: a page for each workload, and commands that are accepted."""

from __future__ import annotations

import ast
import re
import shlex
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from mkdocs.exceptions import PluginError

from bench.host.__main__ import parser
from bench.host.commands import SUMMARIES
from bench.host.study import study_file
from bench.registry import BENCH, BUILT_IN

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import repository_pages  # noqa: E402
import site_links  # noqa: E402
import workload_pages  # noqa: E402

SECTIONS = ["It shows", "It does not show", "Origin", "Implementations", "Sizes"]
TEXTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
    *sorted((ROOT / "bench").glob("workloads/*/page.md")),
]
#: The index of the committed runs, and their READMEs.
INDEX = ROOT / "reports" / "reference" / "README.md"
RESULTS = [INDEX, *sorted(INDEX.parent.glob("*/README.md"))]
#: Theirs and the pages beside them.
PAGES = sorted(path for path in INDEX.parent.rglob("*.md") if path.name != "table.md")


@pytest.mark.parametrize("name", BUILT_IN.workloads)
def test_each_workload_brings_its_page(name):
    written = Path(BENCH.path("workloads", name.replace("-", "_"), "page.md")).read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", written, re.MULTILINE) == SECTIONS
    assert [written.count(place) for place in workload_pages.PLACES] == [1, 1]


@pytest.mark.parametrize("name", BUILT_IN.workloads)
def test_a_page_has_every_size_and_implementation_of_its_workload(name):
    page, specification = workload_pages.page(name), BUILT_IN.specification(name)
    assert all(f"| `{size}` |" in page for size in specification.SIZES)
    assert all(
        (f"| `{framework}.py` |" in page) == BUILT_IN.has_implementation(name, framework)
        for framework in BUILT_IN.frameworks
    )
    assert name in workload_pages.index()


def lines_of_blocks(path: Path) -> list[str]:
    """Return the lines of a text's blocks, fenced without a language or indented, without their comments."""
    text = path.read_text(encoding="utf-8")
    fence = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
    blocks = [block for language, block in fence.findall(text) if not language]
    blocks += re.findall(r"(?:^ {4}.*\n)+", fence.sub("", text), re.MULTILINE)
    lines = [line.strip() for block in blocks for line in block.replace("\\\n", "").splitlines()]
    return [one for line in lines for one in line.partition("  #")[0].rstrip(" …").split(" && ")]


def commands(path: Path) -> list[list[str]]:
    """Return what the commands in the blocks of a text give to the host, where they give it options."""
    lines = lines_of_blocks(path)
    sessions = [re.match(r"(?:nox|python3 noxfile.py)(?: -s ([\w -]*?))? -- (.*)", line) for line in lines]
    named = [((found[1] or "bench-").split()[0], found[2]) for found in sessions if found]
    direct = [re.match(r"python3 -m bench.host (\S+) ?(.*)", line) for line in lines]
    named += [(found[1], found[2]) for found in direct if found]
    given = [["run" if one.startswith("bench-") else one, *shlex.split(options)] for one, options in named]
    # The other sessions are a checkout's own: nox -s tests, nox -s benchmarks.
    return [words for words in given if words[0] in SUMMARIES]


COMMANDS = [(path, given) for path in [*TEXTS, *PAGES] for given in commands(path)]


@pytest.mark.parametrize(("path", "given"), COMMANDS, ids=lambda value: getattr(value, "stem", None) or " ".join(value))
def test_the_options_of_every_command_are_accepted(path, given):
    assert parser(given).parse_args(given).command == given[0]


def own_commands(path: Path) -> list[list[str]]:
    """Return what the commands in the blocks and sentences of a text give to ``nox -s benchmarks``."""
    joined = path.read_text(encoding="utf-8").replace("\\\n", " ").replace("|", "\n")
    given = re.findall(r"nox -s benchmarks -- ([^`\n]*)", joined) + re.findall(r"`(forms [^`\n]* [^`\n]*)`", joined)
    return [shlex.split(words.partition("  #")[0].rstrip(" …")) for words in given]


def forms_of(file: Path) -> set[str]:
    """Return the names of the forms of a file, which only an environment with its framework can import."""
    given = [
        statement for statement in ast.parse(file.read_text(encoding="utf-8")).body if "FORMS" in ast.dump(statement)
    ]
    (forms,) = [one.value for one in given if isinstance(one, ast.Assign) and isinstance(one.value, ast.Dict)]
    return {key.value for key in forms.keys if isinstance(key, ast.Constant)}


OWN = [
    (path, given)
    for path in [*TEXTS, *PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    for given in own_commands(path)
    if given[0] != "NAME"
]


@pytest.mark.parametrize(("path", "given"), OWN, ids=lambda value: getattr(value, "stem", None) or " ".join(value))
def test_every_benchmark_has_its_name_and_options(path, given):
    program = ROOT / "benchmarks" / f"{given[0]}.py"
    assert program.is_file()
    source = program.read_text(encoding="utf-8")
    assert [word for word in given if word.startswith("--") and f'"{word}"' not in source] == []


def expanded(word):
    """Expand braces as a shell does: ``a{b,c}`` to ``ab`` and ``ac``."""
    found = re.search(r"\{([^{}]*)\}", word)
    if not found:
        return [word]
    return [
        each
        for choice in found[1].split(",")
        for each in expanded(f"{word[: found.start()]}{choice}{word[found.end() :]}")
    ]


def test_braces_are_expanded_as_in_a_shell():
    assert expanded("torch1:{a,b}:{c:d,e}") == ["torch1:a:c:d", "torch1:a:e", "torch1:b:c:d", "torch1:b:e"]


@pytest.mark.parametrize("given", [given for _, given in OWN if given[0] == "forms" and len(given) > 1], ids=" ".join)
def test_every_form_and_its_cell_exist(given):
    matrix = given[given.index("--matrix") + 1] if "--matrix" in given else "studies/full.toml"
    study = study_file.load(ROOT / matrix)
    cells = [cell for word in given for cell in expanded(word) if cell.count(":") == 3]
    for environment, mode, workload, size in (cell.split(":") for cell in cells):
        assert mode in study.environments[environment].modes
        assert size in BUILT_IN.specification(workload).SIZES
    names = given[given.index("--forms") + 1].split(",") if "--forms" in given else []
    assert set(names) <= forms_of(ROOT / "benchmarks" / "forms" / f"{given[1]}.py")


def test_the_table_of_claims_has_every_claim_of_the_studies():
    table = (
        (ROOT / "docs/claims.md").read_text(encoding="utf-8").partition("claims: begin")[2].partition("claims: end")[0]
    )
    given = [tomllib.loads(file.read_text(encoding="utf-8")) for file in (ROOT / "studies").glob("*.toml")]
    stated = {f"{name}: {claim['says']}" for study in given for name, claim in study.get("claims", {}).items()}
    assert stated == set(re.findall(r"^\| (\S+: .*?) +\|", table, re.MULTILINE))


def test_reports_of_a_part_of_the_default_study_have_its_baseline():
    """A part without it is refused, as an example on the page was."""
    parts = [given for path, given in COMMANDS if given[0] == "report" and path.stem == "running"]
    parts = [given for given in parts if "--environment" in given]
    assert parts
    for given in parts:
        options = parser(given).parse_args(given)
        column = options.baseline or study_file.load(ROOT / "matrix.toml").settings.baseline
        assert column.partition(":")[0] in options.environment


def test_commands_are_found_in_the_documentation():
    assert {given[0] for _, given in COMMANDS} >= {"run", "query", "images", "init", "validate"}


@pytest.mark.parametrize(
    "path",
    [*(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "examples/README.md")), *PAGES, *TEXTS],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_links_lead_to_files_of_the_repository(path):
    linked = re.findall(r"(?:\]\(|src=\")([^)#\"]+)", path.read_text(encoding="utf-8"))
    assert [to for to in linked if not to.startswith("http") and not (path.parent / to).exists()] == []


def test_the_index_of_results_has_every_committed_run():
    linked = re.findall(r"\]\(([\w-]+)/README\.md\)", INDEX.read_text(encoding="utf-8"))
    assert sorted(linked) == sorted(path.parent.name for path in RESULTS[1:])


def test_the_index_of_workloads_says_of_each_what_its_specification_says():
    expected = []
    for name in BUILT_IN.workloads:
        first = ast.get_docstring(ast.parse(Path(BUILT_IN.specification(name).__file__).read_text(encoding="utf-8")))
        what = str(first).splitlines()[0].removeprefix(f"Specifies {name}: ").rstrip(".")
        expected.append(f"| [{name}]({name.replace('-', '_')}/page.md) | {what} |")
    index = (ROOT / "bench" / "workloads" / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| \[.*", index, re.MULTILINE)) == sorted(expected)


@pytest.mark.parametrize(
    ("place", "target", "page"),
    [
        ("docs/method.md", "../reports/reference/default/README.md", "reports/reference/default/README.md"),
        ("docs/method.md", "fairness.md", "fairness.md"),
        ("docs/method.md", "fairness/jax.md", "fairness/jax.md"),
        ("docs/fairness/jax.md", "../frameworks.md", "frameworks.md"),
        ("docs/fairness/jax.md", "../../reports/reference/default", "reports/reference/default/README.md"),
        ("docs/index.md", "../bench/workloads/lenet_train/page.md", "workloads/lenet-train.md"),
        ("docs/index.md", "../bench/workloads", "workloads/index.md"),
        ("bench/workloads/gemm/page.md", "../../../docs/method.md", "method.md"),
        (
            "reports/reference/default/README.md",
            "figures/speedups.png",
            "reports/reference/default/figures/speedups.png",
        ),
        ("reports/reference/times.md", "torch-xla/stencil", "reports/reference/torch-xla/stencil/table.md"),
        ("reports/reference/README.md", "default", "reports/reference/default/README.md"),
        ("docs/index.md", "no-such-page.md", None),
        ("docs/index.md", "../../outside.md", None),
    ],
)
def test_a_link_of_the_repository_leads_to_the_page_that_stands_for_its_target(place, target, page):
    found = repository_pages.resolved(place, target)
    assert (None if found is None else repository_pages.page_of(found)) == page


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "fairness").glob("*.md")), ids=lambda path: path.stem)
def test_a_page_of_fairness_lists_its_objections_in_the_order_of_the_answers(path):
    text = path.read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[.+?\]\(#([\w-]+)\) \| \S", text, re.MULTILINE)
    answers = re.findall(r"^#{2,3} (.+)\n\n(?!#)", text, re.MULTILINE)
    assert listed == [re.sub(r"[^\w -]", "", answer).lower().replace(" ", "-") for answer in answers]


def test_links_that_lead_nowhere_end_the_building_of_the_site(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#end">b</a> <a href="https://example.org">c</a>')
    (tmp_path / "b.html").write_text('<p id="end"></p><a href="a.html#top">a</a> <img src="a.html">')
    config = SimpleNamespace(site_dir=str(tmp_path))
    site_links.on_post_build(config)
    (tmp_path / "b.html").write_text('<a href="a.html#bottom">a</a> <img src="c.png">')
    with pytest.raises(PluginError, match=r"(?s)a\.html: b\.html#end\nb\.html: a\.html#bottom\nb\.html: c\.png"):
        site_links.on_post_build(config)
