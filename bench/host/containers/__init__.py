"""Builds images, starts containers from them, and runs one cell in each container."""
