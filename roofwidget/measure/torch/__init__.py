"""Counts what PyTorch runs, operation by operation."""
