"""Gives the layer that pads images, in a form that PyTorch's compiler takes."""

from __future__ import annotations

from keras import layers

from .versions import BACKEND


class ByPyTorch(layers.ZeroPadding2D):
    """Pads with PyTorch's function. Keras makes an operation in every call, at whose name PyTorch's compiler stops."""

    def call(self, inputs):
        from torch.nn.functional import pad

        (top, bottom), (left, right) = self.padding
        return pad(inputs, (left, right, top, bottom))


ZeroPadding2D = ByPyTorch if BACKEND == "torch" else layers.ZeroPadding2D
