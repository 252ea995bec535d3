"""Measures this machine: its peaks, and the FLOPs, bytes and times of what runs on it.

`peaks` measures roofs, `profile` counts and times a function, `analyzer`, `recording` and `sweep` are ways to use both.
`frameworks` finds the counter for a function: there is one for numpy, one for PyTorch and one for JAX.
"""
