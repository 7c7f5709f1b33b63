"""The service that takes reports from clients and exposes them to Prometheus and Tempo."""
