"""Reads facts about this machine: processors, GPUs, addresses and the load by other processes."""
