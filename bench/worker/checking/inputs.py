"""Draws parameters and batches, and stores them with a reference, so that no environment draws them again.

Drawing took 60 to 130 ms, of the 170 to 190 ms in which small kernels are built and checked in every process.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from . import returned
from .arrays import digest

#: Input sets, used in rotation while timing, so that no result can be a constant.
INPUT_SETS = 4
#: A larger draw is not stored: reading it would be no faster, and references are kept.
MOST_BYTES = 64 << 20


class Draw(NamedTuple):
    """What ``draw`` returns, with the digest of it."""

    parameters: Dict[str, Any]
    batches: List[Any]
    #: The source of the data.
    description: str
    digest: str


def draw(
    specification: Any, size: Dict[str, int], seed: int, data: Any = None
) -> Tuple[Dict[str, Any], List[Any], str]:
    """Draw parameters and ``INPUT_SETS`` batches from one seed; return them and the source of the data.

    RandomState gives the same numbers in every NumPy version (NEP 19), so all environments draw the same.
    """
    source, description = None, "seeded random values"
    if hasattr(specification, "source"):
        source, description = specification.source(data)
    random = np.random.RandomState(seed)
    parameters = returned.of(
        specification, "parameters", specification.parameters(size, random), dict, "{name: float32 array}"
    )
    batches = [
        returned.of(
            specification, "batch", specification.batch(size, random, source), (tuple, list), "a tuple of arrays"
        )
        for _ in range(INPUT_SETS)
    ]
    return parameters, batches, description


def drawn(specification: Any, size: Dict[str, int], seed: int, data: Any, reference: str) -> Draw:
    """Return what is drawn for a cell: what is stored with its ``reference``, where that has the same size and seed."""
    kept = read(reference, size, seed)
    if kept is not None:
        return kept
    parameters, batches, description = draw(specification, size, seed, data)
    return Draw(parameters, batches, description, digest(parameters, batches))


def arrays(
    size: Dict[str, int], seed: int, parameters: Dict[str, Any], batches: List[Any], description: str
) -> Dict[str, Any]:
    """Return what to store beside the digest, {name: array}; nothing where that would be large."""
    stored = {"parameter/" + name: value for name, value in parameters.items()}
    for index, batch in enumerate(batches):
        stored.update({"batch/{}/{}".format(index, place): value for place, value in enumerate(batch)})
    if sum(value.nbytes for value in stored.values()) > MOST_BYTES:
        return {}
    lengths = [len(batch) for batch in batches]
    return dict(stored, lengths=np.array(lengths), of=np.array(name(size, seed)), source=np.array(description))


def name(size: Dict[str, int], seed: int) -> str:
    """Name a draw of a specification."""
    return json.dumps([size, seed], sort_keys=True)


def read(path: str, size: Dict[str, int], seed: int) -> Optional[Draw]:
    """Return what was drawn at ``size`` from ``seed`` for the reference at ``path``; None where that is not stored."""
    with np.load(path, allow_pickle=False) as stored:
        if "of" not in stored or str(stored["of"]) != name(size, seed):
            return None
        names = [name[len("parameter/") :] for name in stored if name.startswith("parameter/")]
        batches = [
            tuple(stored["batch/{}/{}".format(index, place)] for place in range(length))
            for index, length in enumerate(stored["lengths"])
        ]
        parameters = {name: stored["parameter/" + name] for name in names}
        return Draw(parameters, batches, str(stored["source"]), str(stored["digest"]))
