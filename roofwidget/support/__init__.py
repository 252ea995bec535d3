"""Helpers for all rooms: nearest names in error messages, tables as text, languages."""
