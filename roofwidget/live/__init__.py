"""What runs lands on a chart while it runs: `record` for a block, the magic `%%roofline` for a cell."""
