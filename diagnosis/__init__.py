"""Reads a run back from Prometheus and says what is wrong with it."""
