"""Decides what each table holds; `renderers` write tables, `words` fill them."""
