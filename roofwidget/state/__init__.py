"""What follows when a trait of the model changes."""
