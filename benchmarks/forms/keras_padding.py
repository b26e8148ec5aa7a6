"""Forms of Keras' residual networks: images are padded by Keras' own layer."""

from __future__ import annotations

from keras import layers

FORMS = {"ZeroPadding2D": {"bench.workloads.resnet18.keras:ZeroPadding2D": layers.ZeroPadding2D}}
