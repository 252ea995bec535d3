"""The rates of the focus chip: what a page shows, and what is at a place of a slider."""

from __future__ import annotations

from tests.browser.drawn import Drawn, Quantity


def shown(page: Drawn, quantity: Quantity) -> float:
    """Return a rate that a page shows."""
    digits, unit = page.box(quantity).input_value().replace("\xa0", " ").split(" ")
    return float(digits) * {"G": 1e9, "T": 1e12, "P": 1e15}[unit[0]]


def rate_at(share: float, sheet: float) -> float:
    """Return the rate at a share of a slider's track, which covers a factor of ten below and above the data sheet."""
    return sheet * 10 ** (2 * share - 1)
