"""The counter."""
