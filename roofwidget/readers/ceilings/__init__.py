"""Ceilings that a benchmark measured."""
