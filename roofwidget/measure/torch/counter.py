"""Counts the operations of a function by running it under a dispatch mode."""

import torch

__all__ = ["torch"]
