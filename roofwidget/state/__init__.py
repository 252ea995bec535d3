"""Functions that check new values of the model's traits, and compute how other traits change with a trait."""
