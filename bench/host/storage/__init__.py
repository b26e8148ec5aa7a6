"""Stores records, the manifest, compile caches, references and input data."""
