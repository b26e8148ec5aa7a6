"""Runs one cell on a GPU in this process, with a fault planted.

    python one_cell.py FAULT FRAMEWORK MODE WORKLOAD SIZE PRECISION

Prints the worker's messages as a list of JSON.
"""

import json
import os
import sys
import tempfile
import time

from bench.cell import MIXED
from bench.registry import BUILT_IN
from bench.worker import live_cell
from bench.worker.imported import Imported
from bench.worker.scratch import Scratch
from bench.worker.session import Session
from bench.worker.timing.layout import Layout


class Channel:
    def __init__(self):
        self.messages = []

    def send(self, **message):
        self.messages.append(message)


def loosen_torch(adapter):
    """Let products and convolutions round their operands to TF32, after the adapter asked for float32."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True


def loosen_jax(adapter):
    import jax

    jax.config.update("jax_default_matmul_precision", "tensorfloat32")


def tighten_torch(adapter):
    """Let products be full float32, after the adapter asked for TF32."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def never_wait(adapter):
    adapter.synchronize = lambda outputs: None


FAULTS = {
    "none": lambda adapter: None,
    "tf32-torch": loosen_torch,
    "tf32-jax": loosen_jax,
    "float32-torch": tighten_torch,
    "never-wait": never_wait,
}


def main(fault, framework, mode, workload, size, precision):
    channel, threads = Channel(), len(os.sched_getaffinity(0))
    session = Session(channel, Scratch(), Layout(1), BUILT_IN, Imported())
    made = live_cell.adapter_of
    live_cell.adapter_of = lambda *given: planted(made(*given), FAULTS[fault])
    cell = {
        "environment": "real", "framework": framework, "mode": mode, "workload": workload, "size": size,
        "precision": precision, "device": "gpu", "threads": threads,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        reference = os.path.join(folder, "reference.npz")
        requests = [
            {
                "do": "reference",
                "workload": workload,
                "size": size,
                "seed": 1,
                "path": reference,
                "mixed": precision == MIXED,
            },
            {"do": "import", "cell": cell},
            {"do": "prepare", "seed": 1, "reference": reference},
            {"do": "calibrate", "sample_s": 0.02},
            {"do": "turn", "samples": 3},
            {"do": "work", "seconds": 2.0},
            {"do": "finish"},
        ]
        try:
            for request in requests:
                session.answer(request)
        except Exception:
            # The last message says what happened.
            time.sleep(0)
    return channel.messages


def planted(adapter, plant):
    plant(adapter)
    return adapter


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
