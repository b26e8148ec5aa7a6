"""Knows how results become tables: one module owns what a table holds, renderers supply row, rule and quoting."""
