"""A class: its students, the sheet that each gets, and the answers that come back."""
