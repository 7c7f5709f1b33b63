"""Dashboards as code: panels, queries, layout, rendering and linting. Knows Grafana, nothing of RL.

Declare with `generator.dashboard`, `generator.panels`, `generator.queries` and `generator.promql`;
build with `Dashboard.build` and `generator.render.to_bytes`; check with `generator.lint`.
"""
