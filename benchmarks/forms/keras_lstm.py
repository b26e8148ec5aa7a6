"""The other form of Keras' LSTM: a loop over time in place of the unrolled one, or the reverse."""

from __future__ import annotations

from bench.workloads.lstm_lm_train import keras

FORMS = {"other": {"bench.workloads.lstm_lm_train.keras:UNROLLED": not keras.UNROLLED}}
