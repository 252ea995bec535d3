"""Functions that check new values of the model's traits, and compute the traits that depend on other traits."""
