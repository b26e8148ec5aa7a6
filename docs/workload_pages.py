"""Makes a page of the documentation for each workload: what code and committed runs say, around its written text.

``bench/workloads/<workload>/page.md`` is written by hand; ``PLACES`` in it are replaced by tables. All links are those
of that place in the repository (``repository_pages`` follows them), but in the index.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import workload_times  # noqa: E402

from bench.host.statistics.roofline import MARGIN  # noqa: E402
from bench.registry import BENCH, BUILT_IN  # noqa: E402
from bench.worker.checking import draws, parity, tolerance  # noqa: E402
from bench.worker.limits.peaks import ITEMSIZE  # noqa: E402

#: Where the tables of a page go.
PLACES = ("<!-- implementations -->", "<!-- sizes -->")
STUDY = tomllib.loads((ROOT / "matrix.toml").read_text(encoding="utf-8"))
OPTIMIZERS = {"sgd": "SGD", "adam": "Adam", "adamw": "AdamW"}
FULL = tomllib.loads((ROOT / "studies" / "full.toml").read_text(encoding="utf-8"))
#: In the order of the studies: the default one, then the one with every workload.
NAMES = [*STUDY["workloads"], *(name for name in FULL["workloads"] if name not in STUDY["workloads"])]
INDEX = """# Workloads

Each workload is specified once, in NumPy. Every implementation must reproduce it in the mode that is timed, before it
is timed. A page says what a workload shows and does not show, where it comes from, and how each framework computes it
and why.

{table}

The column *quick* has the size of the default profile; each page says what the others measure. In general:

- `check` takes milliseconds. It is for correctness: its times mean nothing.
- `tiny` shows what calls cost: there is little to compute in a step.
- `mini` and `small` take milliseconds per step, so that kernels count more than calls.
- `medium` and `large` are for papers and GPUs; profile `publication` has `medium`.
- `single` is `small` with a batch of one: what a server computes for one request. `batch4` and `batch16` are several
  requests at once; see [Latency of a server](../serving.md).

Another size, or several: `-- --size tiny,small`. [Your own workload](../own-workload.md) is a folder, too.
"""


def on_config(config: Any) -> Any:
    """Put the pages into the navigation; mkdocs calls this."""
    for entry in config.nav:
        if isinstance(entry, dict) and "Workloads" in entry:
            entry["Workloads"] = ["workloads/index.md", *(f"workloads/{name}.md" for name in NAMES)]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages; mkdocs calls this."""
    files.append(File.generated(config, "workloads/index.md", content=index()))
    for name in NAMES:
        files.append(File.generated(config, f"workloads/{name}.md", content=page(name)))
    return files


def index() -> str:
    rows = ["| workload | what it is | a step is | frameworks | quick |", "|---|---|---|---|---|"]
    for name in NAMES:
        specification = BUILT_IN.specification(name)
        first = _said(specification).partition("\n\n")[0].replace("\n", " ")
        products = ", ".join(BUILT_IN.facts(one).product for one in _implementing(name))
        kind = "training" if specification.TRAINING else "inference"
        sizes = ", ".join(_sizes_of("quick", name))
        rows.append(f"| [{name}]({name}.md) | {first} | {kind} | {products} | {sizes} |")
    return INDEX.format(table="\n".join(rows))


def page(name: str) -> str:
    """Return the page of a workload."""
    specification = BUILT_IN.specification(name)
    text = Path(BENCH.path("workloads", name.replace("-", "_"), "page.md")).read_text(encoding="utf-8")
    for place, table in zip(PLACES, (implementations(name), sizes(name, specification)), strict=True):
        text = text.replace(place, table)
    return "\n".join(
        [
            f"# {name}\n",
            f"{_said(specification)}\n",
            text,
            workload_times.section(name),
            "## Facts\n",
            *(f"- {fact}" for fact in facts(specification)),
            "\n## Run it\n",
            f"```\nnox -s bench-torch2 bench-jax -- {_study_of(name)}--workload {name}\n```\n",
        ]
    )


def implementations(name: str) -> str:
    """Return a table of what each implementation's docstring says of it."""
    folder = Path(BENCH.path("workloads", name.replace("-", "_")))
    rows = [f"In `{folder.relative_to(ROOT)}/`:\n", "| framework | file | how |", "|---|---|---|"]
    for framework in _implementing(name):
        file = folder / f"{framework}.py"
        said = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n\n")[0]
        how = re.sub(r"^Implements [\w-]+ in \w+[.,:]?\s*", "", said.replace("``", "`").replace("\n", " "))
        product = BUILT_IN.facts(framework).product
        rows.append(f"| {product} | `{file.name}` | {_sentence(how) or 'The formula as it is.'} |")
    return "\n".join(rows)


def sizes(name: str, specification: Any) -> str:
    """Return a table of the sizes: their parameters, and the least that a step must do in float32."""
    rows = [
        f"| size | parameters | {specification.ITEM}s | FLOPs | bytes | FLOPs per byte | profiles |",
        "|---|---|---|---|---|---|---|",
    ]
    for label, size in specification.SIZES.items():
        flops = float(specification.useful_flops(size))
        moved = float(specification.compulsory_bytes(size, ITEMSIZE["float32"]))
        parameters = ", ".join(f"{key} {value}" for key, value in size.items())
        profiles = ", ".join(profile for profile in STUDY["profiles"] if label in _sizes_of(profile, name))
        counts = f"{specification.items(size)} | {_short(flops)} | {_short(moved)} | {_short(flops / moved)}"
        rows.append(f"| `{label}` | {parameters} | {counts} | {profiles} |")
    least = (
        "FLOPs are the plain algorithm's, bytes the least that must move in float32; `matrix.toml` has the profiles."
    )
    return "\n".join([*rows, "", least])


def facts(specification: Any) -> list[str]:
    """List what the specification fixes, as sentences."""
    factor = getattr(specification, "TOLERANCE_FACTOR", tolerance.TOLERANCE_FACTOR)
    short = "" if specification.PRECISIONS == ("float32",) else f" ({tolerance.SHORT_TOLERANCE_FACTOR:g} in 16 bits)"
    found = [
        f"Precisions: {', '.join(specification.PRECISIONS)}.",
        f"Tolerance: an implementation may err by {factor:g} times{short} what the precision itself does, and by "
        f"{100 * tolerance.MOST_ERROR:.0f} % at most, measured against float64.",
    ]
    if specification.ITEM == "draw":
        found[1:] = [
            "Compared: the distribution of the draws and of their fine digits; sums and differences of neighbours, "
            f"halves and steps. A right generator fails with a probability of {draws.FALSE_ALARM:g} at most."
        ]
    elif specification.TRAINING:
        options = [
            f"{key.replace('_', ' ')} {value:g}" for key, value in specification.OPTIMIZER.items() if key != "name"
        ]
        found.insert(1, f"Optimizer: {OPTIMIZERS[specification.OPTIMIZER['name']]}, {', '.join(options)}.")
        found.append(f"Compared: {parity.CHECKED_STEPS} losses, and the update of every parameter.")
    else:
        found.append(f"Compared: all outputs of {parity.CHECKED_SETS} batches.")
    found.append(
        "A step that is faster than the machine's measured peaks allow is an error; the margin is "
        f"{100 * MARGIN:.0f} %{_saved(specification)}."
    )
    return found


def _saved(specification: Any) -> str:
    divisor = getattr(specification, "FLOPS_DIVISOR", 1)
    return f", and the fastest known algorithm may save {divisor:g} times the operations" if divisor > 1 else ""


def _said(specification: Any) -> str:
    """Return the docstring without its first words, which name the workload."""
    return _sentence((inspect.getdoc(specification) or "").replace("``", "`").partition(": ")[2])


def _sentence(text: str) -> str:
    """Begin with a capital, except with a name in code."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].rstrip(",").isalpha() else text


def _short(number: float) -> str:
    """Write a count with three digits: 9.06 M."""
    for factor, prefix in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= factor:
            return f"{number / factor:.3g}{prefix}"
    return f"{number:.3g}"


def _study_of(name: str) -> str:
    """Return the option that names a study with a workload; none is needed for the default study."""
    return "" if name in STUDY["workloads"] else "--matrix studies/full.toml "


def _implementing(name: str) -> list[str]:
    return [one for one in BUILT_IN.frameworks if BUILT_IN.has_implementation(name, one)]


def _sizes_of(profile: str, name: str) -> list[str]:
    chosen = STUDY["profiles"][profile]
    return list(chosen.get("sizes_of", {}).get(name, chosen["sizes"]))
