"""Kernels: one kernel, a table of kernels, and the operations on a table that need no chip."""
