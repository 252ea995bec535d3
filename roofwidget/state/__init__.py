"""Checks of the model's traits, and what follows when a trait changes: plain values in, plain values out."""
