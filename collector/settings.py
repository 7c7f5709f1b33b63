"""The collector's settings: their names, defaults, bounds and meaning. `config` says where they come from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class About:
    """What a setting means, and what it may be."""

    says: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """All that can be set. Times are in seconds, sizes in bytes."""

    host: Annotated[str, About("Address to listen on; 0.0.0.0 or :: for every interface.")] = "127.0.0.1"
    port: Annotated[int, About("Port to listen on; 0 takes a free one.", 0, 65535)] = 18080
    data_dir: Annotated[Path, About("Folder of the database and of the register of scrape targets.")] = Path(
        "~/.rl-insight/data/collector"
    )
    token: Annotated[
        str,
        About("Bearer token that every call but /healthz and /metrics must carry; empty asks for none.", secret=True),
    ] = ""
    otlp_endpoint: Annotated[
        str,
        About(
            "Where spans go by OTLP over HTTP (/v1/traces is added); empty keeps none.",
            starts=("http://", "https://"),
        ),
    ] = "http://127.0.0.1:4318"
    otlp_port: Annotated[
        int | None, About("Port of the OTLP receiver that /api/v1/services names; null where it is off.", 1, 65535)
    ] = 4318
    prometheus_port: Annotated[
        int | None, About("Port of Prometheus that /api/v1/services names; null where it is off.", 1, 65535)
    ] = 9090
    grafana_port: Annotated[
        int | None, About("Port of Grafana that /api/v1/services names; null where it is off.", 1, 65535)
    ] = 3000
    targets_file: Annotated[
        Path | None,
        About("Register of scrape targets for Prometheus's file_sd; null is targets.json in the data folder."),
    ] = None
    target_networks: Annotated[
        tuple[str, ...],
        About("Networks (10.0.0.0/8, …) that scrape targets must lie in, given as addresses; empty allows all."),
    ] = ()
    synchronous: Annotated[
        str,
        About(
            "When a report counts as safe: full survives power loss; normal only the death of the process.",
            choices=("full", "normal"),
        ),
    ] = "full"
    journal_bytes: Annotated[int, About("Bound on the spans that wait to be sent; past it the oldest go.", MIB)] = (
        1024 * MIB
    )
    spans_per_second: Annotated[
        float,
        About(
            "Pace of sending. A stock Tempo drops past 10,000 live traces and keeps each for up to 20 s; "
            "raise it where Tempo's limit is lifted.",
            1,
        ),
    ] = 400.0
    span_batch: Annotated[int, About("Spans in one request to the OTLP endpoint.", 1, 10_000)] = 512
    max_report_bytes: Annotated[int, About("Bound on a request's body, compressed or not.", 1024)] = 16 * MIB
    max_waiting_bytes: Annotated[
        int, About("Bound on the bodies that wait to be stored; past it the answer is 503.", MIB)
    ] = 256 * MIB
    max_connections: Annotated[int, About("Bound on open connections.", 1)] = 16_384
    max_sources: Annotated[int, About("Bound on live sources; past it a new one gets 429.", 1)] = 20_000
    max_series: Annotated[int, About("Bound on the series of all sources; past it new ones get 429.", 1)] = 500_000
    max_series_per_source: Annotated[int, About("Bound on the series of one source; past it the answer is 413.", 1)] = (
        20_000
    )
    max_spans_per_report: Annotated[int, About("Bound on the spans in one report; past it the answer is 413.", 1)] = (
        20_000
    )
    max_targets: Annotated[
        int,
        About(
            "Bound on registered scrape targets; past it the answer is 429, and those of a report are passed over.", 1
        ),
    ] = 20_000
    hold_seconds: Annotated[float, About("How long a job's data waits for the job's run to be named.", 0)] = 60.0
    final_seconds: Annotated[float, About("How long a source that has finished stays.", 0)] = 60.0
    silent_seconds: Annotated[float, About("How long a source may be silent before it counts as gone.", 1)] = 120.0
    stop_seconds: Annotated[float, About("How long a stop may take to send the spans that wait.", 0)] = 5.0
    log_format: Annotated[str, About("Shape of the log lines on stderr.", choices=("logfmt", "json"))] = "logfmt"
    log_level: Annotated[str, About("Least severe log line.", choices=("debug", "info", "warning", "error"))] = "info"

    @property
    def database(self) -> Path:
        return self.data_dir / "collector.db"

    @property
    def register(self) -> Path:
        """The file_sd file."""
        return self.targets_file or self.data_dir / "targets.json"


_HINTS = get_type_hints(Settings, include_extras=True)

ABOUT: dict[str, About] = {name: get_args(hint)[1] for name, hint in _HINTS.items()}
TYPES: dict[str, Any] = {name: get_args(hint)[0] for name, hint in _HINTS.items()}
