"""Counts what XLA compiles for JAX, and reads its programs as text."""
