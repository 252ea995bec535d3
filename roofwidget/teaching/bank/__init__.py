"""A bank of exercises with numbers of their own for each student."""
