"""Makes runs of a LightningModule and a Trainer with the networks of torchvision and transformers."""

from __future__ import annotations

from models_torch import train_images, train_language
from with_lightning import fitted

MODELS = {"resnet18-train": train_images, "resnet50-train": train_images, "gpt-train": train_language}


def runs(workload, size, mode, batch):
    """Return ``{name: run}``, where ``run(batches)`` fits for as many batches."""
    return MODELS[workload](size, mode, batch, train=fitted)
