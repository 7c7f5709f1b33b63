"""What carries no engine: TransferQueue, and the exporters of nodes, GPUs and NPUs."""

import itertools
import math
from collections.abc import Mapping, Sequence

from dashboards_src.catalog.exposed import EXPORTERS, TRANSFER_QUEUE, ExposedMetric

from .openmetrics import Exposition
from .series import Distribution, Labels, Load, Profile, emit

_OPS = ("PUT_DATA", "GET_DATA", "CLEAR_DATA", "GET_META", "CLEAR_META", "NOTIFY_DATA_UPDATE")

_TRANSFER_QUEUE = Profile(
    values={
        "tq_controller_memory_rss_bytes": ("one", 1.9e9),
        "tq_controller_request_errors_total": ("samples", 0.0002),
        "tq_controller_request_samples_total": ("samples", 1.0),
        "tq_controller_request_total": ("samples", 0.05),
        "tq_controller_uptime_seconds": ("uptime", 1.0),
        "tq_global_index_allocated_total": ("samples", 0.9),
        "tq_global_index_reusable_total": ("samples", 0.1),
        "tq_partition_consumption_progress": ("fill", 0.7),
        "tq_partition_production_progress": ("fill", 1.0),
        "tq_partition_samples_total": ("fill", 512),
        "tq_partitions_total": ("one", 2),
        "tq_storage_accept_queue_backlog": ("fill", 3),
        "tq_storage_accept_queue_peak": ("one", 11),
        "tq_storage_accept_queue_peak_utilization_ratio": ("one", 0.09),
        "tq_storage_active_keys_total": ("fill", 4096),
        "tq_storage_arrivals_by_op": ("samples", 0.05),
        "tq_storage_capacity_total": ("one", 10000),
        "tq_storage_memory_rss_bytes": ("fill", 6.0e9),
        "tq_storage_request_latency_avg": ("one", 0.004),
        "tq_storage_request_latency_p50": ("one", 0.003),
        "tq_storage_request_latency_p99": ("one", 0.021),
        "tq_storage_request_ops": ("samples", 0.05),
        "tq_storage_requests_arrived": ("samples", 0.3),
        "tq_storage_utilization_ratio": ("fill", 0.41),
    },
    distributions={
        "tq_controller_request_duration_seconds": Distribution(
            0.004, 0.8, (0.001, 0.0025, 0.005, 0.01, 0.025, 0.1), "samples", 0.05
        ),
    },
    labels={
        "op_type": dict.fromkeys(_OPS, 1.0),
        "partition_id": {"train_0": 1.0, "val_0": 0.3},
        "storage_unit_id": {"su_0": 1.0, "su_1": 0.94},
        "task_name": {"actor_update": 0.9, "compute_log_prob": 1.0},
    },
)

_NODE = Profile(
    values={
        "node_cpu_seconds_total|idle": ("quiet", 1.0),
        "node_cpu_seconds_total|iowait": ("work", 0.05),
        "node_cpu_seconds_total|system": ("work", 0.15),
        "node_cpu_seconds_total|user": ("work", 0.8),
        "node_disk_io_time_seconds_total": ("work", 0.1),
        "node_filesystem_avail_bytes": ("room", 7e12),
        "node_filesystem_size_bytes": ("one", 7e12),
        "node_infiniband_port_data_received_bytes_total": ("work", 9e9),
        "node_infiniband_port_data_transmitted_bytes_total": ("work", 9e9),
        "node_load1": ("now", 96.0),
        "node_memory_MemAvailable_bytes": ("room", 2e12),
        "node_memory_MemTotal_bytes": ("one", 2e12),
        "node_network_receive_bytes_total": ("work", 3e7),
        "node_network_transmit_bytes_total": ("work", 2.5e7),
    },
    labels={
        "cpu": {"0": 1.0, "1": 1.0},
        "mode": {"idle": 1.0, "iowait": 1.0, "system": 1.0, "user": 1.0},
        "fstype": {"ext4": 1.0},
        "mountpoint": {"/": 1.0},
        "port": {"1": 1.0},
        "node_disk_io_time_seconds_total|device": {"nvme0n1": 1.0},
        "node_filesystem_avail_bytes|device": {"/dev/nvme0n1p2": 1.0},
        "node_filesystem_size_bytes|device": {"/dev/nvme0n1p2": 1.0},
        "node_infiniband_port_data_received_bytes_total|device": {"mlx5_0": 1.0},
        "node_infiniband_port_data_transmitted_bytes_total|device": {"mlx5_0": 1.0},
        "device": {"eth0": 1.0, "lo": 0.01},
    },
)

_DEVICE_VALUES = {
    "DCGM_FI_DEV_FB_FREE": ("room", 60000),
    "DCGM_FI_DEV_FB_USED": ("full", 60000),
    "DCGM_FI_DEV_GPU_TEMP": ("warm", 60.0),
    "DCGM_FI_DEV_GPU_UTIL": ("now", 98.0),
    "DCGM_FI_DEV_POWER_USAGE": ("warm", 560.0),
    "DCGM_FI_DEV_SM_CLOCK": ("one", 1755),
    "DCGM_FI_PROF_DRAM_ACTIVE": ("now", 0.45),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("now", 0.96),
    "DCGM_FI_PROF_NVLINK_RX_BYTES": ("now", 4e10),
    "DCGM_FI_PROF_NVLINK_TX_BYTES": ("now", 4e10),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": ("now", 0.38),
    "npu_chip_info_bandwidth_rx": ("now", 4100.0),
    "npu_chip_info_bandwidth_tx": ("now", 4000.0),
    "npu_chip_info_hbm_bandwidth_utilization": ("now", 44.0),
    "npu_chip_info_hbm_total_memory": ("one", 65536),
    "npu_chip_info_hbm_used_memory": ("full", 50000),
    "npu_chip_info_hbm_utilization": ("full", 78.0),
    "npu_chip_info_health_status": ("one", 1),
    "npu_chip_info_name": ("one", 1),
    "npu_chip_info_power": ("warm", 310.0),
    "npu_chip_info_temperature": ("warm", 52.0),
    "npu_chip_info_utilization": ("now", 93.0),
}


def transfer_queue(out: Exposition, target: Labels, samples_per_second: float) -> None:
    fill = [0.5 + 0.4 * math.sin(second / 190.0) for second in _seconds(out)]
    load = Load(
        {
            "fill": fill,
            "one": [1.0 for _ in fill],
            "samples": [second * samples_per_second for second in _seconds(out)],
            "uptime": [second + 900.0 for second in _seconds(out)],
            "zero": [0.0 for _ in fill],
        }
    )
    emit(out, TRANSFER_QUEUE.values(), _TRANSFER_QUEUE, load, target)
    # What is produced is also given for no task in particular, which consumption is not.
    for partition in _TRANSFER_QUEUE.labels["partition_id"]:
        out.gauge("tq_partition_production_progress", {**target, "partition_id": partition, "task_name": "all"}, fill)


def node(out: Exposition, instance: str, busy: Sequence[float]) -> None:
    """A node's exporter, whose processors work as long as its devices do."""
    emit(out, _exported("node_"), _NODE, _load(out, busy), {"job": "node-exporter", "instance": instance})


def gpu(out: Exposition, host: str, index: int, busy: Sequence[float]) -> None:
    own = {
        "gpu": str(index),
        "UUID": f"GPU-{host}-{index}",
        "modelName": "NVIDIA H800",
        "Hostname": host,
    }
    profile = Profile(values=_DEVICE_VALUES, fixed=own)
    emit(out, _exported("DCGM_"), profile, _load(out, busy), {"job": "dcgm-exporter", "instance": f"{host}:9400"})


def npu(out: Exposition, host: str, index: int, busy: Sequence[float]) -> None:
    own = {"id": str(index), "name": "910B3", "vdie_id": f"{host}-{index}"}
    profile = Profile(values=_DEVICE_VALUES, fixed=own)
    emit(out, _exported("npu_"), profile, _load(out, busy), {"job": "npu-exporter", "instance": f"{host}:8082"})


def _exported(prefix: str) -> list[ExposedMetric]:
    return [metric for name, metric in EXPORTERS.items() if name.startswith(prefix)]


def _seconds(out: Exposition) -> list[float]:
    return [float(time - out.times[0]) for time in out.times]


def _load(out: Exposition, busy: Sequence[float]) -> Load:
    seconds = _seconds(out)
    step = seconds[1]
    now = [0.0, *((after - before) / step for before, after in itertools.pairwise(busy))]
    bases: Mapping[str, Sequence[float]] = {
        "full": [0.75 + 0.2 * part for part in now],
        "now": now,
        "one": [1.0 for _ in now],
        "quiet": [second - work for second, work in zip(seconds, busy, strict=True)],
        "room": [0.6 - 0.3 * part for part in now],
        "warm": [0.45 + 0.55 * part for part in now],
        "work": busy,
        "zero": [0.0 for _ in now],
    }
    return Load(bases)
