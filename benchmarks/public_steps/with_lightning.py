"""Makes runs of a LightningModule and a Trainer, as Lightning's guide has them, with the networks of torch.nn."""

from __future__ import annotations

import copy
import logging
import warnings

import lightning
import torch
import with_torch
from lightning.fabric.plugins.environments import LightningEnvironment
from torch import nn
from torch.utils.data import DataLoader


def steps(workload, size, mode, batch):
    """Return ``{name: object with a run}``."""
    return with_torch.steps(workload, size, mode, batch, train=fitted)


class Classifier(lightning.LightningModule):
    """The module of Lightning's guide."""

    def __init__(self, network, kind, rate):
        super().__init__()
        self.network, self.kind, self.rate = network, kind, rate
        self.criterion = nn.CrossEntropyLoss()
        self.last = None

    def training_step(self, batch, index):
        *inputs, labels = batch
        loss = self.criterion(self.network(*inputs).flatten(0, -2), labels.flatten())
        self.last = loss.detach()
        return loss

    def configure_optimizers(self):
        return self.kind(self.parameters(), lr=self.rate)


class Fitted:
    """Fits for as many batches as a run has. The Trainer is made anew, as a call of ours does."""

    def __init__(self, module, batch):
        self._module, self._batch = module, batch
        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", module="lightning")

    def run(self, batches):
        loader = DataLoader([self._batch] * len(batches), batch_size=None)
        alone = LightningEnvironment()
        trainer = lightning.Trainer(accelerator="cpu", devices=1, max_epochs=1, barebones=True, plugins=alone)
        trainer.fit(self._module, loader)
        return {"loss": self._module.last}


def fitted(network, mode, batch, kind=torch.optim.SGD, rate=with_torch.RATE):
    """Fit the module; ``fit-compile`` compiles it as Lightning's guide does, or its network alone."""
    module = Classifier(network, kind, rate)
    if mode == "fit":
        return {"lightning": Fitted(module, tuple(batch))}
    alone = Classifier(torch.compile(copy.deepcopy(network)), kind, rate)
    return {
        "lightning, module compiled": Fitted(torch.compile(module), tuple(batch)),
        "lightning, network compiled": Fitted(alone, tuple(batch)),
    }
