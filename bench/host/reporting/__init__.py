"""Turns an analysis into tables, words and files."""
