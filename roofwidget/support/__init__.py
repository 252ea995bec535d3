"""What every room needs: nearest names for error messages, tables as text, languages."""
