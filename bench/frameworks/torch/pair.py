"""Divides training steps between this process and a second one with DistributedDataParallel over gloo or NCCL."""

from __future__ import annotations

import contextlib
import datetime
import gc
import mmap
import os
import sys
import tempfile
from multiprocessing import connection

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from ...program import Unsupported
from ...worker.process import die_with_parent, exit_after, keep_only
from .. import halves
from .parallel import MODE, ONE_PROCESS

#: {kind of device: what adds up gradients between processes}
BACKENDS = {"cpu": "gloo", "cuda": "nccl"}
#: As long as the host lets the processes wait: meanwhile they are stopped, and clocks go on.
PATIENCE = datetime.timedelta(days=1)
#: Asks the second process for its memory.
MEMORY = "memory"
#: Asks it to forget the peaks so far.
FORGET = "forget"
#: The network interface over which gloo connects the processes; it would look for that of the machine's name.
INTERFACE = {"linux": "lo", "darwin": "lo0"}


class Shared:
    """What both processes have since the second one is forked: arrays in memory that they share, and their threads."""

    def __init__(self):
        self.threads = 1
        self.kind = "cpu"
        #: The pair of processes, once it was made.
        self.pair = None
        #: {identity: array}, of all that were placed before the fork.
        self.arrays = {}

    def ask(self, device, threads):
        """Divide the threads. Raises Unsupported where that cannot be."""
        halves.verify_threads(MODE, threads)
        self.threads = threads // halves.DEVICES
        self.kind = "cuda" if device == "gpu" else "cpu"
        if self.kind == "cuda" and not hasattr(torch, "compile"):
            raise Unsupported(
                "mode {} forks a second process before CUDA starts, and torch {} starts it when it looks for GPUs: see "
                "{}".format(MODE, torch.__version__, ONE_PROCESS)
            )
        # A process that has started threads cannot be forked to compute with several; they start after the fork.
        torch.set_num_threads(1)

    def place(self, array):
        """Copy an array to memory that a forked process shares."""
        memory = mmap.mmap(-1, max(1, array.numel() * array.element_size()))
        placed = torch.frombuffer(memory, dtype=array.dtype, count=array.numel()).reshape(array.shape).copy_(array)
        self.arrays[id(placed)] = placed
        return placed

    def device(self, rank):
        """Return the device of one of the processes."""
        return torch.device(self.kind, rank) if self.kind == "cuda" else torch.device("cpu")


SHARED = Shared()


def part(array, rank):
    """Return the half of an array that a process computes."""
    length = len(array) // halves.DEVICES
    return array[rank * length : (rank + 1) * length]


class Parts:
    """The halves of all batches that one process computes: on a processor views of shared memory, on a GPU copies."""

    def __init__(self, rank):
        self._rank = rank
        self._known = {}

    def of(self, keys, anew):
        """Return the half of a batch; ``anew`` says that what is in it has changed."""
        if anew:
            device = SHARED.device(self._rank)
            self._known[keys] = tuple(part(SHARED.arrays[key], self._rank).to(device) for key in keys)
        return self._known[keys]


class Pair:
    """Two processes with a copy of the module each. This one is the first, and has the parameters that are read."""

    def __init__(self, module, make):
        """Fork the second process.

        ``make()`` is called in each when the module lies on its device. It returns the optimizer, and a function that
        sets module and optimizer back.
        """
        self._module, self._make = module, make
        self._folder = tempfile.mkdtemp(prefix="ddp-")
        self._halves = halves.Halves(MODE, self._verify)
        #: {batch: the versions of its arrays when it was used last}
        self._versions = {}
        #: Arrays that both processes have.
        self._common = frozenset(SHARED.arrays)
        self._connection, other = connection.Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.process = os.fork()
        if not self.process:
            exit_after(lambda: self._be_second(other))
        other.close()
        SHARED.pair = self
        self._place(0)
        # NCCL would wait for a second process that has failed for as long as the host waits.
        self._answer()
        self._connect(0)
        #: Threads of both.
        self.threads = torch.get_num_threads() + self._answer()

    def _verify(self, batch):
        keys = tuple(id(array) for array in batch)
        if not self._common.issuperset(keys):
            raise ValueError("mode {} needs batches that are placed before the program is built".format(MODE))
        return keys

    def _named(self, batch):
        """Return the keys of a batch, and whether it has changed since it was used last."""
        keys, versions = self._halves(batch), tuple(array._version for array in batch)
        anew = self._versions.get(keys) != versions
        self._versions[keys] = versions
        return keys, anew

    def _place(self, rank):
        torch.set_num_threads(SHARED.threads)
        self._parts = Parts(rank)
        self.device = SHARED.device(rank)
        if SHARED.kind == "cuda":
            torch.cuda.set_device(self.device)
        self._module.to(self.device)
        self.optimizer, self._reset = self._make()

    def _connect(self, rank):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", INTERFACE.get(sys.platform, ""))
        # It ends a process that makes no progress for minutes, and a stopped one makes none.
        os.environ.setdefault("TORCH_NCCL_ENABLE_MONITORING", "0")
        file = "file://" + os.path.join(self._folder, "addresses")
        distributed.init_process_group(
            BACKENDS[SHARED.kind], init_method=file, rank=rank, world_size=halves.DEVICES, timeout=PATIENCE
        )
        own = [rank] if SHARED.kind == "cuda" else None
        # Otherwise gradients are copied to what is sent, and back.
        self._divided = DistributedDataParallel(self._module, device_ids=own, gradient_as_bucket_view=True)

    def _steps(self, named):
        """Do a step for the own part of each batch; return the last loss of the whole batch."""
        for keys, anew in named:
            self.optimizer.zero_grad(set_to_none=True)
            loss = self._divided(*self._parts.of(keys, anew))
            loss.backward()
            self.optimizer.step()
        loss = loss.detach() / halves.DEVICES
        distributed.all_reduce(loss)
        return loss

    def run(self, batches):
        named = [self._named(batch) for batch in batches]
        self._connection.send(named)
        loss = self._steps(named)
        self._answer()
        return {"loss": loss}

    def memory(self):
        """Return the peaks of both GPUs together; there are none before both processes are ready."""
        self._connection.send(MEMORY)
        other = self._answer()
        return {name: size + other[name] for name, size in memory(self.device).items()}

    def forget_peak(self):
        self._connection.send(FORGET)
        torch.cuda.reset_peak_memory_stats(self.device)
        self._answer()

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
        ended, _status = os.waitpid(self.process, os.WNOHANG)
        self._connection.close()
        if not ended:
            # Both at the same time: NCCL may wait for the other process.
            distributed.destroy_process_group()
            os.waitpid(self.process, 0)
        with os.scandir(self._folder) as files:
            for file in files:
                os.unlink(file.path)
        os.rmdir(self._folder)

    def _be_second(self, other):
        """Compute the second halves until the first process closes its end, or is gone; return the exit code."""
        die_with_parent()
        # What the first process leaves to the collector may wait for threads that are not here.
        gc.freeze()
        self._connection.close()
        keep_only(other.fileno())
        self._place(1)
        other.send(True)
        self._connect(1)
        other.send(torch.get_num_threads())
        # The first process is gone where it closes its end.
        with contextlib.suppress(EOFError):
            while True:
                answer, request = True, other.recv()
                if request == MEMORY:
                    answer = memory(self.device)
                elif request == FORGET:
                    torch.cuda.reset_peak_memory_stats(self.device)
                elif request is None:
                    self._reset()
                else:
                    self._steps(request)
                if SHARED.kind == "cuda":
                    torch.cuda.synchronize(self.device)
                other.send(answer)
        distributed.destroy_process_group()
        return 0


def memory(device):
    """Return the peaks of what PyTorch's allocator has given and reserved on a GPU."""
    return {
        "allocated_peak_bytes": torch.cuda.max_memory_allocated(device),
        "reserved_peak_bytes": torch.cuda.max_memory_reserved(device),
    }
