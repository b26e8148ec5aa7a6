"""Makes the first call of cells in a fresh process; prints the modules that it imported, of those that are named.

python first_imports.py '{"framework": …, "mode": …, "workloads": […], "modules": […]}'
"""

import json
import sys

from bench.cell import Cell
from bench.registry import BUILT_IN
from bench.worker.checking import parity
from bench.worker.imported import Imported
from bench.worker.live_cell import LiveCell


def main(asked):
    found = {}
    for workload in asked["workloads"]:
        cell = Cell("any", asked["framework"], asked["mode"], workload, "check", "float32", "cpu", 1)
        live = LiveCell(cell, BUILT_IN, Imported())
        before = set(sys.modules)
        specification, size = live.specified()
        parameters, batches, _ = parity.draw(specification, size, 1)
        put = live.adapter.put
        placed = {name: put(array) for name, array in parameters.items()}
        live.first_call(size, placed, [put(array) for array in batches[0]], lambda stage: None)
        found[workload] = [module for module in asked["modules"] if module in sys.modules and module not in before]
    return found


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
