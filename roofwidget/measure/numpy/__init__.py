"""Counts what a function of numpy arrays runs."""
