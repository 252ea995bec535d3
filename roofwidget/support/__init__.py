"""Helpers that all packages use: similar names for error messages, tables as text, and the list of languages."""
