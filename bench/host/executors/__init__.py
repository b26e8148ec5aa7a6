"""Measures one row in one round on this machine, from a job that another machine may have sent."""
