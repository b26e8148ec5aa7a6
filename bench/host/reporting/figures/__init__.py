"""Draws figures for papers and pages."""
