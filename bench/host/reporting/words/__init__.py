"""Holds what tables say in words: captions, remarks, notes, numbers and languages."""
