"""Makes the first call of cells in a fresh process; prints the modules that it imported, of those that are named.

python first_imports.py '{"framework": …, "mode": …, "workloads": […], "modules": […]}'
"""

import json
import sys

from bench.cell import Cell
from bench.worker.checking import parity
from bench.worker.scratch import Scratch
from bench.worker.session import Session
from bench.worker.timing.layout import Layout


class Silent:
    """Takes a session's messages."""

    def send(self, **message):
        """Drop a message."""


def main(asked):
    found = {}
    for workload in asked["workloads"]:
        cell = Cell("any", asked["framework"], asked["mode"], workload, "check", "float32", "cpu", 1)
        session = Session(Silent(), Scratch(), Layout(None))
        session.do_import(cell.to_json())
        before = set(sys.modules)
        specification, size = session._specified()
        parameters, batches, _ = parity.draw(specification, size, 1)
        put = session._adapter.put
        session._first_call(
            size, {name: put(array) for name, array in parameters.items()}, [put(a) for a in batches[0]]
        )
        found[workload] = [module for module in asked["modules"] if module in sys.modules and module not in before]
    return found


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
