"""Makes the programs that Lightning's users write: a LightningModule, which a Trainer fits."""

from __future__ import annotations

import logging
import warnings

import lightning
import torch
from lightning.fabric.plugins.environments import LightningEnvironment

from ...program import Program
from .. import precisions
from ..torch.layouts import module_settings
from ..torch.loading import loader
from ..torch.optimizers import make_optimizer
from ..torch.settings import in_autocast
from ..torch.training import evaluation

#: What Lightning has for measuring its own loop: neither logger, checkpoints, progress bar nor summary.
TRAINER = {"devices": 1, "max_epochs": 1, "barebones": True}


class Fitted(lightning.LightningModule):
    """A module whose forward gives the loss of a batch, with its optimizer, which outlives a call of ``fit``."""

    def __init__(self, forward, optimizer):
        super().__init__()
        # Not as a submodule: ``optimizer`` has its parameters.
        self._called = [forward]
        self._optimizer = optimizer
        self.loss = None

    def training_step(self, batch, index):
        loss = self._called[0](*batch)
        self.loss = loss.detach()
        return loss

    def configure_optimizers(self):
        return self._optimizer


def training(module, transform, settings, parameters):
    """Make the program that fits ``module``, whose forward gives the loss of a batch.

    ``settings`` is the specification's OPTIMIZER; ``parameters()`` gives the parameters in the specification's names.
    """
    module.train()
    initial = {name: value.clone() for name, value in module.state_dict().items()}
    optimizer = make_optimizer(module.parameters(), settings)

    trainers = []

    def in_force():
        found = dict(module_settings(module), **{"fused optimizer": bool(optimizer.param_groups[0].get("fused"))})
        if precision is not None:
            for trainer in trainers:
                found.update(in_autocast(trainer.precision_plugin.autocast_context_manager()))
        return found

    # The batches are there already.
    accelerator = "gpu" if next(module.parameters()).is_cuda else "cpu"
    fitted = Fitted(transform(module, training=True, settings=in_force), optimizer)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")

    # By itself, a Trainer looks for clusters to take its rank from: where mpi4py is installed, it starts MPI.
    alone = LightningEnvironment()

    precision = "bf16-mixed" if transform.precision == precisions.MIXED else None

    def run(batches):
        trainer = lightning.Trainer(accelerator=accelerator, precision=precision, plugins=alone, **TRAINER)
        trainers[:] = [trainer]
        trainer.fit(fitted, loader(batches))
        return {"loss": fitted.loss}

    def reset():
        module.load_state_dict(initial)
        for state in optimizer.state.values():
            for value in state.values():
                if torch.is_tensor(value):
                    value.zero_()

    return Program(lambda *batch: run((batch,)), parameters, reset, run, evaluation(module), starts=True)
