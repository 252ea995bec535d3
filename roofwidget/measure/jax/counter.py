"""Counts the operations of a function from the program that XLA compiles for it."""


def version() -> str:
    """Return the version of JAX."""
    import jax  # noqa: PLC0415 - optional

    return str(jax.__version__)
