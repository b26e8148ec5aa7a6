"""Holds the facts, adapter and programs of TensorFlow's graphs; importing the package imports none of them."""
