"""Knows containers: the engine that runs them, the images they start from, and one cell inside one of them."""
