"""Lets users import the functions on networks of `roofwidget.analysis` from the shorter ``roofwidget.network``."""

from roofwidget.analysis.messages import AlphaBeta, messages, with_topology
from roofwidget.analysis.network import (
    COLLECTIVES,
    MESSAGES,
    TOPOLOGIES,
    algorithm_bandwidth,
    bus_bandwidth,
    bus_factor,
    collective_time,
    effective_roof,
    exposed_fraction,
    network_bytes,
    network_intensity,
    network_ridge_point,
    sent_factor,
    tier_bytes,
)

__all__ = [
    "COLLECTIVES",
    "MESSAGES",
    "TOPOLOGIES",
    "AlphaBeta",
    "algorithm_bandwidth",
    "bus_bandwidth",
    "bus_factor",
    "collective_time",
    "effective_roof",
    "exposed_fraction",
    "messages",
    "network_bytes",
    "network_intensity",
    "network_ridge_point",
    "sent_factor",
    "tier_bytes",
    "with_topology",
]
