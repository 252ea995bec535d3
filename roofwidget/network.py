"""Lets users import the functions of `roofwidget.analysis.network` from the shorter ``roofwidget.network``."""

from roofwidget.analysis.network import (
    COLLECTIVES,
    TOPOLOGIES,
    collective_time,
    effective_roof,
    exposed_fraction,
    network_bytes,
    network_intensity,
    network_ridge_point,
)

__all__ = [
    "COLLECTIVES",
    "TOPOLOGIES",
    "collective_time",
    "effective_roof",
    "exposed_fraction",
    "network_bytes",
    "network_intensity",
    "network_ridge_point",
]
