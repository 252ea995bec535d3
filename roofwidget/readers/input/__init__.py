"""The bytes of a profile: files, archives, folders, JSON documents, progress bars."""
