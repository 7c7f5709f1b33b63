"""What an RL run looks like: metric catalog, sections, dashboards. Declarations, hardly any logic."""
