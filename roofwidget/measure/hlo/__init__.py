"""Reads XLA's programs as text: which instructions run, how often, and their FLOPs and bytes. It needs no JAX."""
