"""Helpers for all packages: nearest names in error messages, tables as text, languages."""
