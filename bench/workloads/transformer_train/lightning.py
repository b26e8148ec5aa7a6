"""Implements transformer-train in Lightning, with the module of PyTorch."""

from __future__ import annotations

from ...frameworks.lightning.adapter import training
from . import OPTIMIZER
from .torch import LanguageModel, Predictor, model_parameters


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    module = Predictor(size, parameters)
    return training(LanguageModel(module), transform, optimizer, lambda: model_parameters(module))
