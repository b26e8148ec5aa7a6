"""Divides training steps between this process and a second one with DistributedDataParallel over gloo."""

from __future__ import annotations

import gc
import mmap
import os
import sys
import tempfile
import traceback
from multiprocessing import connection

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from ...worker.process import die_with_parent
from .. import halves

MODE = "ddp"
#: The network interface over which gloo connects the processes; it would look for that of the machine's name.
INTERFACE = {"linux": "lo", "darwin": "lo0"}


class Shared:
    """What both processes have since the second one is forked: arrays in memory that they share, and their threads."""

    def __init__(self):
        self.threads = 1
        #: {identity: array}, of all that were placed before the fork.
        self.arrays = {}

    def ask(self, device, threads):
        """Divide the threads. Raises Unsupported where that cannot be."""
        halves.verify(MODE, device, threads)
        self.threads = threads // halves.DEVICES
        # A process that has started threads cannot be forked to compute with several; they start after the fork.
        torch.set_num_threads(1)

    def place(self, array):
        """Copy an array to memory that a forked process shares."""
        memory = mmap.mmap(-1, max(1, array.numel() * array.element_size()))
        placed = torch.frombuffer(memory, dtype=array.dtype, count=array.numel()).reshape(array.shape).copy_(array)
        self.arrays[id(placed)] = placed
        return placed


SHARED = Shared()


def part(array, rank):
    """Return the half of an array that a process computes."""
    length = len(array) // halves.DEVICES
    return array[rank * length : (rank + 1) * length]


class Pair:
    """Two processes with a copy of the module each. This one is the first, and has the parameters that are read."""

    def __init__(self, module, optimizer, reset):
        """Fork the second process; ``reset()`` sets the module and the optimizer of its process back."""
        self._module, self._optimizer, self._reset = module, optimizer, reset
        self._folder = tempfile.mkdtemp(prefix="ddp-")
        self._halves = halves.Halves(MODE, self._divide)
        self._connection, other = connection.Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.process = os.fork()
        if not self.process:
            self._be_second(other)
        other.close()
        self._join(0)
        #: Threads of both.
        self.threads = torch.get_num_threads() + self._answer()

    def _divide(self, batch):
        keys = tuple(id(array) for array in batch)
        if any(key not in SHARED.arrays for key in keys):
            raise ValueError("mode {} needs batches that are placed before the program is built".format(MODE))
        return keys, tuple(part(array, 0) for array in batch)

    def _join(self, rank):
        torch.set_num_threads(SHARED.threads)
        os.environ.setdefault("GLOO_SOCKET_IFNAME", INTERFACE.get(sys.platform, ""))
        file = "file://" + os.path.join(self._folder, "addresses")
        distributed.init_process_group("gloo", init_method=file, rank=rank, world_size=halves.DEVICES)
        self._divided = DistributedDataParallel(self._module)

    def _steps(self, parts):
        """Do a step for each part of a batch; return the last loss of the whole batch."""
        for batch in parts:
            self._optimizer.zero_grad(set_to_none=True)
            loss = self._divided(*batch)
            loss.backward()
            self._optimizer.step()
        loss = loss.detach() / halves.DEVICES
        distributed.all_reduce(loss)
        return loss

    def run(self, batches):
        divided = [self._halves(batch) for batch in batches]
        self._connection.send([keys for keys, _ in divided])
        loss = self._steps([own for _, own in divided])
        self._answer()
        return {"loss": loss}

    def reset(self):
        self._connection.send(None)
        self._reset()
        self._answer()

    def _answer(self):
        try:
            return self._connection.recv()
        except EOFError:
            raise RuntimeError("the second process has ended; its error is in the log of the cell") from None

    def close(self):
        """End the second process."""
        self._connection.close()
        os.waitpid(self.process, 0)
        distributed.destroy_process_group()
        with os.scandir(self._folder) as files:
            for file in files:
                os.unlink(file.path)
        os.rmdir(self._folder)

    def _be_second(self, other):
        """Compute the second halves until the first process closes its end, or is gone."""
        code = 1
        try:
            die_with_parent()
            # What the first process leaves to the collector may wait for threads that are not here.
            gc.freeze()
            self._connection.close()
            keep_only(other.fileno())
            self._join(1)
            other.send(torch.get_num_threads())
            known = {}
            while True:
                request = other.recv()
                if request is None:
                    self._reset()
                else:
                    for keys in request:
                        if keys not in known:
                            known[keys] = tuple(part(SHARED.arrays[key], 1) for key in keys)
                    self._steps([known[keys] for keys in request])
                other.send(True)
        except EOFError:
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def keep_only(descriptor):
    """Close what belongs to the first process, whose host must see its end; the log stays open."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    most = os.sysconf("SC_OPEN_MAX")
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, most if most > 0 else 1 << 16)
