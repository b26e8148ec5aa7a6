"""Describes and watches this machine: processor, memory, GPUs, load of other processes."""
