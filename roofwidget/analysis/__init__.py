"""The roofline arithmetic and all results that are based on it. No module here uses traitlets or pixels."""
