"""Bytes of a profile: files, archives, folders, documents, progress."""
