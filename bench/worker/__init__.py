"""The worker ring: runs inside an environment, on Python 3.7 and later, with NumPy and the framework only."""
