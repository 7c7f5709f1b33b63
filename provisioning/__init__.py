"""Puts dashboards, data sources and alerts into a Grafana, or into files for one."""
