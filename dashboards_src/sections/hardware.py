"""The machines below a run. Exporters know nothing of runs, so these show whatever is scraped."""

from dashboards_src.run import UNSCOPED
from generator.dashboard import Section
from generator.fields import GREEN, RED, limits, value_text
from generator.panels import bargauge, status_history, timeseries
from generator.promql import ratio
from generator.queries import Query
from generator.variables import Variable

NODE = 'instance=~"$node"'

_nodes = Variable(
    "node",
    "Node",
    'label_values({__name__=~"node_load1|DCGM_FI_DEV_GPU_UTIL|npu_chip_info_utilization"}, instance)',
    multi=True,
    all_value=".*",
)

_FULL = limits(above=(0.85, 0.95))
_BY_NODE = "{{instance}}"
_BY_GPU = "{{instance}} GPU {{gpu}}"
_BY_NPU = "{{instance}} NPU {{id}}"


def _select(name: str, *matchers: str) -> str:
    return UNSCOPED.select(name, NODE, *matchers)


def _rate(name: str, *matchers: str) -> str:
    return UNSCOPED.rate(name, NODE, *matchers)


_REAL_DISKS = 'device!~"dm-.*|loop.*|ram.*|sr.*"'
_REAL_FILES = 'fstype!~"tmpfs|overlay|squashfs|ramfs|devtmpfs|iso9660"'
_REAL_NETWORKS = 'device!~"lo|veth.*|docker.*|cali.*|flannel.*|cni.*|br-.*"'

_IDLE = _rate("node_cpu_seconds_total", 'mode="idle"')
_MEMORY = f"1 - {_select('node_memory_MemAvailable_bytes')} / {_select('node_memory_MemTotal_bytes')}"
_DISK = (
    f"1 - {_select('node_filesystem_avail_bytes', _REAL_FILES)} / {_select('node_filesystem_size_bytes', _REAL_FILES)}"
)

NODES = Section(
    "Hardware: nodes",
    [
        timeseries(
            "CPU in use",
            Query(f"1 - avg by (instance) ({_IDLE})", _BY_NODE),
            description="Share of all cores that is busy. Rewards, tool calls and data loading run here; at 100 % they "
            "hold up devices.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            thresholds=_FULL,
        ),
        timeseries(
            "Memory in use",
            Query(_MEMORY, _BY_NODE),
            description="Share of the node's memory that is not available. Near 100 % the kernel kills processes, "
            "often a Ray worker, and the run hangs.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            thresholds=_FULL,
        ),
        timeseries(
            "Load over one minute",
            Query(_select("node_load1"), _BY_NODE),
            description="Processes that run or wait for CPU or disk. Far above the number of cores they queue.",
            unit="short",
            minimum=0,
        ),
        timeseries(
            "Network traffic",
            Query(
                f"sum by (instance) ({_rate('node_network_receive_bytes_total', _REAL_NETWORKS)})",
                f"in {_BY_NODE}",
            ),
            Query(
                f"sum by (instance) ({_rate('node_network_transmit_bytes_total', _REAL_NETWORKS)})",
                f"out {_BY_NODE}",
            ),
            description="Bytes a second through the node's network cards, without loopback and containers.",
            unit="Bps",
            minimum=0,
            fill=0,
        ),
        timeseries(
            "InfiniBand traffic",
            Query(f"sum by (instance) ({_rate('node_infiniband_port_data_received_bytes_total')})", f"in {_BY_NODE}"),
            Query(
                f"sum by (instance) ({_rate('node_infiniband_port_data_transmitted_bytes_total')})", f"out {_BY_NODE}"
            ),
            description="Bytes a second through InfiniBand ports: weight sync and collectives. A node far below the "
            "others has a port down or at a lower speed.",
            unit="Bps",
            minimum=0,
            fill=0,
        ),
        timeseries(
            "Disk busy",
            Query(f"max by (instance) ({_rate('node_disk_io_time_seconds_total', _REAL_DISKS)})", _BY_NODE),
            description="Share of time in which the busiest disk works. At 100 % checkpoints and data loading wait.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            thresholds=_FULL,
        ),
        bargauge(
            "File systems in use",
            Query(_DISK, "{{instance}} {{mountpoint}}", instant=True),
            description="Share of each file system in use. Checkpoints fill disks; a full one ends the run.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            thresholds=_FULL,
            width=24,
            height=6,
        ),
    ],
    variables=[_nodes],
)

_GPU_MEMORY = ratio(
    _select("DCGM_FI_DEV_FB_USED"),
    f"({_select('DCGM_FI_DEV_FB_USED')} + {_select('DCGM_FI_DEV_FB_FREE')})",
)

GPUS = Section(
    "Hardware: NVIDIA GPUs",
    [
        timeseries(
            "GPU utilisation",
            Query(f"{_select('DCGM_FI_DEV_GPU_UTIL')} / 100", _BY_GPU),
            description="Share of time in which at least one kernel runs. It does not tell how full the GPU is: look "
            "at tensor cores for that.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            fill=0,
        ),
        timeseries(
            "Tensor cores active",
            Query(_select("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"), _BY_GPU),
            description="Share of cycles in which tensor cores work: the closest to useful work that hardware reports. "
            "Training reaches half, decoding a few percent.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            fill=0,
        ),
        timeseries(
            "GPU memory in use",
            Query(_GPU_MEMORY, _BY_GPU),
            description="Share of the GPU's memory in use. With rollout and training on the same devices it should "
            "fall whenever they take turns.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            fill=0,
        ),
        timeseries(
            "GPU power",
            Query(_select("DCGM_FI_DEV_POWER_USAGE"), _BY_GPU),
            description="Power that the GPU draws. One that draws far less than its neighbours waits for them, or is "
            "throttled.",
            unit="watt",
            minimum=0,
            fill=0,
        ),
        timeseries(
            "GPU temperature",
            Query(_select("DCGM_FI_DEV_GPU_TEMP"), _BY_GPU),
            description="Temperature of the GPU. In the high eighties most data-centre GPUs begin to slow down.",
            unit="celsius",
            thresholds=limits(above=(80, 88)),
            fill=0,
        ),
        timeseries(
            "GPU clock",
            Query(f"{_select('DCGM_FI_DEV_SM_CLOCK')} * 1000000", _BY_GPU),
            description="Clock of the streaming multiprocessors. One GPU below the others under load is throttled by "
            "heat or power, and makes its replica or rank a straggler.",
            unit="hertz",
            minimum=0,
            fill=0,
        ),
        timeseries(
            "GPU memory bandwidth active",
            Query(_select("DCGM_FI_PROF_DRAM_ACTIVE"), _BY_GPU),
            description="Share of cycles in which the GPU's memory moves data. Decoding is bound by this.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            fill=0,
        ),
        timeseries(
            "NVLink traffic",
            Query(_select("DCGM_FI_PROF_NVLINK_RX_BYTES"), f"in {_BY_GPU}"),
            Query(_select("DCGM_FI_PROF_NVLINK_TX_BYTES"), f"out {_BY_GPU}"),
            description="Bytes a second over NVLink: tensor parallelism and weight sync within a node.",
            unit="Bps",
            minimum=0,
            fill=0,
        ),
        timeseries(
            "Last XID error",
            Query(_select("DCGM_FI_DEV_XID_ERRORS"), _BY_GPU),
            description="Number of the last XID error that the driver reported, 0 for none. 13 and 31 are mostly the "
            "program's fault; 48, 63, 74, 79, 94 and 95 are hardware: drain the node.",
            unit="none",
            minimum=0,
            fill=0,
            thresholds=limits(above=(1, None)),
        ),
    ],
    variables=[_nodes],
)

NPUS = Section(
    "Hardware: Ascend NPUs",
    [
        timeseries(
            "NPU AI Core utilisation",
            Query(_select("npu_chip_info_utilization"), _BY_NPU),
            description="Share of time in which the AI Cores work.",
            unit="percent",
            minimum=0,
            maximum=100,
            fill=0,
        ),
        timeseries(
            "NPU HBM in use",
            Query(ratio(_select("npu_chip_info_hbm_used_memory"), _select("npu_chip_info_hbm_total_memory")), _BY_NPU),
            description="Share of the chip's high-bandwidth memory in use. Rollout and training that take turns on the "
            "same chips should let it fall in between.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            fill=0,
        ),
        timeseries(
            "NPU HBM bandwidth in use",
            Query(_select("npu_chip_info_hbm_bandwidth_utilization"), _BY_NPU),
            description="Share of the memory's bandwidth in use. Decoding is bound by this.",
            unit="percent",
            minimum=0,
            maximum=100,
            fill=0,
        ),
        timeseries(
            "NPU power",
            Query(_select("npu_chip_info_power"), _BY_NPU),
            description="Power that the chip draws. One far below its neighbours waits for them, or is throttled.",
            unit="watt",
            minimum=0,
            fill=0,
        ),
        timeseries(
            "NPU temperature",
            Query(_select("npu_chip_info_temperature"), _BY_NPU),
            description="Temperature of the chip. One above its neighbours under the same load has a cooling problem.",
            unit="celsius",
            fill=0,
        ),
        timeseries(
            "NPU network traffic",
            Query(f"{_select('npu_chip_info_bandwidth_rx')} * 1000000", f"in {_BY_NPU}"),
            Query(f"{_select('npu_chip_info_bandwidth_tx')} * 1000000", f"out {_BY_NPU}"),
            description="Bytes a second through the chip's own network port: collectives and weight sync.",
            unit="Bps",
            minimum=0,
            fill=0,
        ),
        status_history(
            "NPU health",
            Query(_select("npu_chip_info_health_status"), _BY_NPU, min_step="30s"),
            description="Whether each chip calls itself healthy. Drain the node of one that reports a fault.",
            unit="none",
            mappings=[value_text({"1": ("healthy", GREEN), "0": ("fault", RED)})],
            height=8,
        ),
    ],
    variables=[_nodes],
)
