"""The roofline arithmetic and all results that are based on it. This room knows no traitlets and no pixels."""
