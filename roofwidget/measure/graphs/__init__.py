"""Builds a graph of operations from a function that a framework has traced."""
