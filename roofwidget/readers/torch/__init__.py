"""Traces and averages of PyTorch's profiler, ``torch.profiler``."""
