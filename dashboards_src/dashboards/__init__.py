"""One file a dashboard, named after it; each declares `DASHBOARD`."""

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the dashboards' sources lie."""
