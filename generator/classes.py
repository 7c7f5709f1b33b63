"""grafanalib's panels as Grafana 10 to 13 want them: the one place where its defaults are put right.

grafanalib 0.7.1 writes JSON of 2018: 100 data points, fields that Grafana dropped long ago,
thresholds whose first value is the text "null", gauges and heatmaps of an older shape, no
trend and no status history. The classes here are of grafanalib's kind, so whatever it gets
right is still its own.
"""

from typing import Any

import attr
from grafanalib import core

SCHEMA_VERSION = 39
"""Grafana 10.3's. Later versions migrate it; earlier ones of 10 read it as it is."""

PLUGIN_VERSION = "10.0.0"
"""Without it Grafana takes a panel for one of version 6 and runs every migration since."""

_DROPPED = {
    # Gone from Grafana's schema, or dashboards' own business since the grid of version 5.
    "cacheTimeout",
    "color",
    "columns",
    "editable",
    "error",
    "fontSize",
    "height",
    "mappings",
    # grafanalib's own default is 100 points, too coarse for a graph half a screen wide.
    "maxDataPoints",
    "minSpan",
    "span",
}

_DROPPED_FROM_DASHBOARDS = (
    "__inputs",
    "gnetId",
    "hideControls",
    "id",
    "rows",
    "sharedCrosshair",
    "style",
    "version",
)

_EMPTY: tuple[Any, ...] = (None, "", [], {})


class CurrentSchema:
    """Mixed into a grafanalib panel, brings what it writes up to the current schema."""

    def panel_json(self, overrides: dict[str, Any]) -> dict[str, Any]:
        panel: dict[str, Any] = super().panel_json(overrides)  # type: ignore[misc]
        if not panel["hideTimeOverride"]:
            del panel["hideTimeOverride"]
        kept = {key: value for key, value in panel.items() if key not in _DROPPED and value not in _EMPTY}
        config = kept.pop("fieldConfig")
        if panel["type"] == core.ROW_TYPE:
            del kept["transparent"]
            return kept | {"panels": panel["panels"], "collapsed": panel["collapsed"]}
        if panel["type"] != core.TEXT_TYPE:
            kept["fieldConfig"] = _current_field_config(config)
        return kept | {"pluginVersion": PLUGIN_VERSION}


def _current_field_config(config: dict[str, Any]) -> dict[str, Any]:
    defaults = {key: value for key, value in config["defaults"].items() if value not in _EMPTY}
    custom = defaults.get("custom", {})
    # A table's displayMode gave way to cellOptions in Grafana 9.
    defaults["custom"] = {k: value for k, value in custom.items() if value is not None and k != "displayMode"}
    return {"defaults": defaults, "overrides": config.get("overrides", [])}


class TimeSeries(CurrentSchema, core.TimeSeries): ...


class Stat(CurrentSchema, core.Stat): ...


class Table(CurrentSchema, core.Table): ...


class StateTimeline(CurrentSchema, core.StateTimeline): ...


class BarChart(CurrentSchema, core.BarChart): ...


class Text(CurrentSchema, core.Text): ...


class RowPanel(CurrentSchema, core.RowPanel): ...


@attr.s
class OptionsPanel(CurrentSchema, core.Panel):
    """A panel type that grafanalib lacks or writes in an older shape, by its options."""

    panelType: str = attr.ib(default="")  # noqa: N815 - grafanalib's spelling
    options: dict[str, Any] = attr.ib(factory=dict)
    custom: dict[str, Any] = attr.ib(factory=dict)

    def to_json_data(self) -> dict[str, Any]:
        return self.panel_json(
            {
                "type": self.panelType,
                "options": self.options,
                "fieldConfig": {"defaults": {"custom": self.custom}},
            }
        )


class Dashboard(core.Dashboard):
    """A dashboard without what Grafana no longer reads."""

    def to_json_data(self) -> dict[str, Any]:
        written: dict[str, Any] = super().to_json_data()
        for stale in _DROPPED_FROM_DASHBOARDS:
            del written[stale]
        return written | {
            "schemaVersion": SCHEMA_VERSION,
            "fiscalYearStartMonth": 0,
            "liveNow": False,
            "timepicker": {"refresh_intervals": ["5s", "10s", "30s", "1m", "5m", "15m", "30m", "1h"]},
        }


class Template(core.Template):
    """A dashboard variable without the tags of Grafana 6."""

    def with_current(self, current: dict[str, Any]) -> "Template":
        """The same with what is chosen at first: `{"text": …, "value": …}`, or {} for the first there is."""
        self._current = current
        return self

    def to_json_data(self) -> dict[str, Any]:
        written: dict[str, Any] = super().to_json_data()
        for stale in ("useTags", "tagsQuery", "tagValuesQuery", "auto", "auto_min", "auto_count"):
            del written[stale]
        return {key: value for key, value in written.items() if value is not None} | {"skipUrlSync": False}
