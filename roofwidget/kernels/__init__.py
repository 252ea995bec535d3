"""Kernels: one, a table of them, and what can be asked of a table without a chip."""
