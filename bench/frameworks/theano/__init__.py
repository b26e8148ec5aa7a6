"""Holds Theano's facts, adapter and programs; importing the package imports none of them."""
