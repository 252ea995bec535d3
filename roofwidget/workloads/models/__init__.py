"""Graphs of whole models, and of small sets of kernels."""
