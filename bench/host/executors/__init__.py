"""Measures one row in one round on the machine at hand, from a job that can be sent there."""
