"""The roofline arithmetic, and every answer that is made of it; no traitlets, no pixels."""
