"""The host ring: plans, runs and reports a study, on Python 3.11 and later, without importing any framework."""
