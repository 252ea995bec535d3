"""Intel's profilers: Advisor, VTune and unitrace."""
