"""Tells which modes divide training steps between two devices, and divides them between two GPUs with DataParallel."""

from __future__ import annotations

import torch
from torch.nn.parallel import DataParallel

from ...program import Unsupported
from .. import halves

#: DistributedDataParallel, for which there are two processes: see ``pair``; and DataParallel, for which there is one.
MODE, ONE_PROCESS = "ddp", "data-parallel"
MODES = (MODE, ONE_PROCESS)


def verify(mode, device):
    """Raise Unsupported where a mode cannot have its GPUs on ``device``; CUDA is not started."""
    if device == "gpu":
        halves.verify_gpus(mode, torch.cuda.device_count())
    elif mode == ONE_PROCESS:
        raise Unsupported("mode {} divides a batch among GPUs: see {}".format(mode, MODE))


def among_gpus(module):
    """Return DataParallel, which copies a module to every GPU in each step, and a function that gives its loss."""
    halves.verify_program(ONE_PROCESS, training=True, whole=is_sum_of_parts(module))
    divided = DataParallel(module, device_ids=list(range(halves.DEVICES)))

    def loss(*batch):
        halves.verify_batch(ONE_PROCESS, batch)
        return divided(*batch).mean()

    return divided, loss


def with_statistics_of_all(module, device):
    """Return a module of ``ddp`` whose batch normalisations take their statistics from both devices.

    Raises Unsupported on a processor, for which PyTorch has no SyncBatchNorm.
    """
    if is_sum_of_parts(module):
        return module
    if device != "cuda":
        raise Unsupported("mode {} needs batch statistics of both devices; PyTorch has them on GPUs only".format(MODE))
    return torch.nn.SyncBatchNorm.convert_sync_batchnorm(module)


def is_sum_of_parts(module):
    """Tell whether the gradient of a batch is the mean of those of its halves: statistics of a batch are not."""
    return isinstance(module, torch.nn.Module) and not any(
        isinstance(layer, torch.nn.modules.batchnorm._BatchNorm) for layer in module.modules()
    )
