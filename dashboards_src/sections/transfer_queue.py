"""TransferQueue: how samples flow from rollout to training, and whether its storage keeps up."""

from dashboards_src.run import BY_RUN, RUN
from generator.dashboard import Section
from generator.fields import limits
from generator.panels import bargauge, stat, timeseries
from generator.queries import Query

TITLE = "TransferQueue"
BACKLOG_TITLE = "Samples produced and not yet consumed"

_OF_PARTITION = f"on ({', '.join(RUN.labels)}, instance, partition_id)"

BACKLOG = (
    f"({RUN.select('tq_partition_production_progress')} - {RUN.select('tq_partition_consumption_progress')})"
    f" * {_OF_PARTITION} group_left () {RUN.select('tq_partition_samples_total')}"
)
"""Samples of each partition that a task has not taken yet, by partition and task."""

_FULL = limits(above=(0.8, 0.95))

_OP = "{{op_type}} " + BY_RUN
_UNIT = "{{storage_unit_id}} " + BY_RUN

TRANSFER_QUEUE = Section(
    TITLE,
    [
        timeseries(
            BACKLOG_TITLE,
            Query(RUN.sum(BACKLOG, "task_name"), "{{task_name}} " + BY_RUN),
            description="Samples that lie ready for a task and that it has not taken. A backlog that grows step by "
            "step means that training is slower than rollout, and samples grow stale; one that is always empty while "
            "the trainer idles means that rollout is too slow. Needs transfer_queue.metrics.enabled=True.",
            unit="short",
            minimum=0,
            width=10,
        ),
        timeseries(
            "Progress of partitions",
            Query(
                RUN.select("tq_partition_production_progress", 'task_name="all"'), "produced {{partition_id}} " + BY_RUN
            ),
            Query(RUN.select("tq_partition_consumption_progress"), "{{task_name}} took {{partition_id}} " + BY_RUN),
            description="Share of each partition's samples that is produced, and that each task has consumed. A task "
            "that stays behind is the one the others wait for.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            fill=0,
            width=14,
        ),
        timeseries(
            "Samples a second",
            Query(
                RUN.sum(RUN.rate("tq_controller_request_samples_total", 'op_type="NOTIFY_DATA_UPDATE"')),
                f"produced {BY_RUN}",
            ),
            Query(
                RUN.sum(RUN.rate("tq_controller_request_samples_total", 'op_type="CLEAR_META"')), f"cleared {BY_RUN}"
            ),
            description="Samples that were written and that were cleared after use. Over a few steps both should be "
            "equal: more written than cleared fills the storage.",
            unit="suffix: /s",
            minimum=0,
        ),
        timeseries(
            "Requests a second at the controller",
            Query(RUN.sum(RUN.rate("tq_controller_request_total"), "op_type"), _OP),
            description="Requests that the controller answers, by operation.",
            unit="suffix: req/s",
            stack="normal",
            minimum=0,
        ),
        timeseries(
            "Errors a second at the controller",
            Query(RUN.sum(RUN.rate("tq_controller_request_errors_total"), "op_type"), _OP),
            description="Requests that the controller answered with an error, by operation. Should be none.",
            unit="suffix: err/s",
            minimum=0,
            thresholds=limits(above=(None, 0.001)),
        ),
        timeseries(
            "Controller latency",
            Query(RUN.quantile(0.5, "tq_controller_request_duration_seconds", by=("op_type",)), "p50 " + _OP),
            Query(RUN.quantile(0.99, "tq_controller_request_duration_seconds", by=("op_type",)), "p99 " + _OP),
            description="How long the controller works on a request, by operation. Past a tenth of a second it "
            "becomes the bottleneck of both sides.",
            unit="s",
            minimum=0,
            fill=0,
        ),
        timeseries(
            "Storage latency",
            Query(RUN.max(RUN.select("tq_storage_request_latency_p50"), "op_type"), "p50 " + _OP),
            Query(RUN.max(RUN.select("tq_storage_request_latency_p99"), "op_type"), "p99 " + _OP),
            description="How long the slowest storage unit takes for a request, by operation, as it measures itself.",
            unit="s",
            minimum=0,
            fill=0,
        ),
        timeseries(
            "Storage requests a second",
            Query(RUN.sum(RUN.rate("tq_storage_request_ops"), "op_type"), "done " + _OP),
            Query(RUN.sum(RUN.rate("tq_storage_arrivals_by_op"), "op_type"), "arrived " + _OP),
            description="Requests that arrived at the storage units and that they finished, by operation. If more "
            "arrive than are done, requests hang or are lost.",
            unit="suffix: req/s",
            minimum=0,
            fill=0,
        ),
        stat(
            "Active partitions",
            Query(RUN.sum(RUN.select("tq_partitions_total")), BY_RUN),
            description="Partitions that exist now: usually one for each step in flight, and one for validation. "
            "A number that only grows is partitions that nobody clears.",
            unit="short",
            width=6,
            height=8,
        ),
        stat(
            "Controller up for",
            Query(RUN.max(RUN.select("tq_controller_uptime_seconds")), BY_RUN),
            description="Time since the controller started; a fall is a restart.",
            unit="s",
            sparkline=False,
            width=6,
            height=8,
        ),
        bargauge(
            "Storage in use",
            Query(RUN.max(RUN.select("tq_storage_utilization_ratio"), "storage_unit_id"), _UNIT, instant=True),
            description="Share of each storage unit's keys in use. A full unit refuses samples: raise its capacity or "
            "clear partitions sooner.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            thresholds=_FULL,
            width=12,
        ),
        timeseries(
            "Keys and capacity",
            Query(RUN.sum(RUN.select("tq_storage_active_keys_total")), f"active keys {BY_RUN}"),
            Query(RUN.sum(RUN.select("tq_storage_capacity_total")), f"capacity {BY_RUN}"),
            description="Keys that all storage units hold, and how many they can hold.",
            unit="short",
            minimum=0,
        ),
        timeseries(
            "Memory",
            Query(RUN.sum(RUN.select("tq_storage_memory_rss_bytes"), "storage_unit_id"), _UNIT),
            Query(RUN.sum(RUN.select("tq_controller_memory_rss_bytes")), f"controller {BY_RUN}"),
            description="Resident memory of the storage units and of the controller. Steady growth over steps is a "
            "leak or partitions that nobody clears.",
            unit="bytes",
            minimum=0,
        ),
        timeseries(
            "Data offloaded to disk",
            Query(RUN.sum(RUN.select("tq_storage_ssd_active_bytes")), BY_RUN),
            description="Bytes that storage units keep on SSD instead of in memory; nothing where offloading is off.",
            unit="bytes",
            minimum=0,
        ),
        timeseries(
            "Indexes",
            Query(RUN.sum(RUN.select("tq_global_index_allocated_total")), f"allocated {BY_RUN}"),
            Query(RUN.sum(RUN.select("tq_global_index_reusable_total")), f"free to reuse {BY_RUN}"),
            description="Global sample indexes in use and given back. Allocated ones that only grow are samples that "
            "nobody clears.",
            unit="short",
            minimum=0,
        ),
        timeseries(
            "Fullest accept queue of a storage unit",
            Query(RUN.max(RUN.select("tq_storage_accept_queue_peak_utilization_ratio"), "storage_unit_id"), _UNIT),
            description="Deepest the queue of connections waiting to be accepted has been, as a share of its length. "
            "At 100 % connections are dropped. Only with TQ_ACCEPT_PROBE_INTERVAL set.",
            unit="percentunit",
            minimum=0,
            thresholds=_FULL,
        ),
        timeseries(
            "Connections dropped a second",
            Query(RUN.sum(RUN.rate("tq_storage_listen_overflows")), f"queue full {BY_RUN}"),
            Query(RUN.sum(RUN.rate("tq_storage_listen_other_drops")), f"other {BY_RUN}"),
            description="Connections to storage units that the kernel dropped because the accept queue was full, or "
            "for another reason. Only with TQ_ACCEPT_PROBE_INTERVAL set.",
            unit="suffix: /s",
            minimum=0,
        ),
    ],
)
