"""The rollout engines of the history: vLLM and SGLang, current and older versions."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dashboards_src.catalog.exposed import OLDER, RENAMED, SGLANG, VLLM, ExposedMetric

from .engine_profiles import SGLANG_PROFILE, VLLM_PROFILE
from .openmetrics import Exposition, Values
from .series import Labels, Load, Profile, emit

_TOKENS_EACH = 800.0
_PROMPT_EACH = 210.0

_RARE = re.compile(
    r"vllm:(admission|corrupted|estimated|external|kv_block|lora|mm_|num_requests_kv|spec_|watermark)"
    r"|sglang:(backup|decode_|dp_|encoder|eplb|estimated|evict|func_|grammar|graph_|hicache|http_resp"
    r"|kv_(transfer|evict|avail)|load_back|lora|mamba|max_total_num_tokens_swa|num_(bootstrap|decode|grammar"
    r"|pages|paused|prefill|so_|streaming|transfer|unique)|pending|prealloc|prefetch|prefill_d|process_cpu"
    r"|routing|scheduler_(proc|stage)|spec_|startup|storage|streaming|swa_|weight_load|get_loads)"
)
"""What an engine exposes only with a feature that most runs do not use; here replica 0 has them all."""

_TOKENIZER = re.compile(
    r"sglang:(startup_(time|cuda)|prompt_|generation_|spec_verify|uncached_|cached_tokens|num_requests_total"
    r"|get_loads|num_so_|num_aborted|num_retractions|time_to_first|time_per_output|inter_token|request_time_per|e2e_)"
)
_RADIX = re.compile(r"sglang:(evict|load_back|hicache_(backup_(duration|bytes|tokens)|dropped))")
_PLAIN = re.compile(r"sglang:(http_|routing_keys_active|func_|process_cpu|startup_latency|eplb_gpu|encoder_)")

_VLLM_IN_OLD = re.compile(
    r"vllm:(num_requests_(running|waiting)$|num_preemptions_total|(prompt|generation)_tokens_total|request_success"
    r"|request_(prompt|generation|max_num|params|inference|prefill_time|decode)|iteration_tokens|time_to_first"
    r"|e2e_request)"
)
_SGLANG_IN_OLD = re.compile(
    r"sglang:(num_(running|queue|grammar_queue)_reqs|num_used_tokens|token_usage|gen_throughput|cache_hit_rate"
    r"|(prompt|generation|cached)_tokens_total|num_requests_total|time_to_first|e2e_request)"
)


def engine_load(
    times: Sequence[int],
    busy: Sequence[float],
    *,
    tokens_per_second: float,
    slowdown: float = 1.0,
    restart: tuple[int, int] | None = None,
    share: float = 1.0,
) -> Load:
    """The load of an engine that has generated for `busy` seconds up to each tick.

    Between the two times of a restart it is not scraped, and after it all totals begin anew.
    """

    def alive(values: Sequence[float], *, total: bool) -> Values:
        if restart is None:
            return list(values)
        since, until = restart
        base = next(value for time, value in zip(times, values, strict=True) if time >= until) if total else 0.0
        return [
            None if since <= time < until else value - base if time >= until else value
            for time, value in zip(times, values, strict=True)
        ]

    step = times[1] - times[0]
    now = [0.0, *((after - before) / step for before, after in itertools.pairwise(busy))]
    generated = [seconds * tokens_per_second * share / slowdown for seconds in busy]
    requests = [tokens / _TOKENS_EACH for tokens in generated]
    prompt = [count * _PROMPT_EACH for count in requests]
    wave = [0.8 + 0.2 * ((tick * 7) % 11) / 10 for tick in range(len(times))]
    kv = [min(0.93, (0.1 + 0.65 * part * high)) for part, high in zip(now, wave, strict=True)]
    totals = {
        "busy": busy,
        "cached": [tokens * 0.45 for tokens in prompt],
        "generated": generated,
        "idle": [time - seconds for time, seconds in zip(times, busy, strict=True)],
        "prompt": prompt,
        "requests": requests,
        "uptime": [float(time) for time in times],
    }
    gauges = {
        "asleep": [0.0 if part else 1.0 for part in now],
        "awake": [1.0 if part else 0.0 for part in now],
        "free": [1.0 - usage for usage in kv],
        "hit": [0.45 + 0.05 * high for high in wave],
        "kv": kv,
        "one": [1.0 for _ in times],
        "running": [float(round(64 * share * part * high)) for part, high in zip(now, wave, strict=True)],
        "share": now,
        "throughput": [tokens_per_second * share / slowdown * part for part in now],
        "waiting": [float(round(18 * share * part * (high - 0.8) * 5)) for part, high in zip(now, wave, strict=True)],
        "zero": [0.0 for _ in times],
    }
    return Load(
        {
            **{name: alive(values, total=True) for name, values in totals.items()},
            **{name: alive(values, total=False) for name, values in gauges.items()},
        },
        slowdown,
    )


def vllm(out: Exposition, target: Labels, load: Load, *, engine: str | None, old: bool, rare: bool) -> None:
    """One vLLM engine's series. The V0 engine had no label `engine`: None leaves it out."""
    metrics = _older("vllm:", VLLM, _VLLM_IN_OLD) if old else _current(VLLM, rare)
    if engine is None:
        metrics = [_without(metric, {"engine"}) for metric in metrics]
    emit(out, metrics, _with(VLLM_PROFILE, {"engine": engine or ""}), load, target)


def sglang(out: Exposition, target: Labels, loads: Sequence[Load], whole: Load, *, old: bool, rare: bool) -> None:
    """One SGLang server's series: its tokenizer's for all of it, its schedulers' for each data-parallel rank."""
    metrics = _older("sglang:", SGLANG, _SGLANG_IN_OLD) if old else _current(SGLANG, rare)
    if old:
        metrics = [_without(metric, {"is_streaming", "cache_source"}) for metric in metrics]
    shared = [metric for metric in metrics if _PLAIN.match(metric.name) or _TOKENIZER.match(metric.name)]
    ranked = [metric for metric in metrics if metric not in shared]

    def tokenizer_labels(metric: ExposedMetric) -> Labels:
        return {} if old or _PLAIN.match(metric.name) else {"engine_type": "unified"}

    emit(out, shared, SGLANG_PROFILE, whole, target, tokenizer_labels)
    for rank, load in enumerate(loads):
        own = {"engine_type": "unified", "tp_rank": str(rank), "pp_rank": "0", "moe_ep_rank": "0"}
        if len(loads) > 1:
            own["dp_rank"] = str(rank)
        radix = {"cache_type": "radix", "tp_rank": str(rank), "pp_rank": "0", "dp_rank": str(rank)}

        def rank_labels(metric: ExposedMetric, own: Labels = own, radix: Labels = radix) -> Labels:
            labels = radix if _RADIX.match(metric.name) else own
            return {key: value for key, value in labels.items() if key not in metric.labels}

        emit(out, ranked, _with(SGLANG_PROFILE, own), load, target, rank_labels)


def _current(table: Mapping[str, ExposedMetric], rare: bool) -> list[ExposedMetric]:
    return [metric for metric in table.values() if rare or not _RARE.match(metric.name)]


def _older(prefix: str, table: Mapping[str, ExposedMetric], kept: re.Pattern[str]) -> list[ExposedMetric]:
    """Every older name and what it stood beside, without one name that replaced an older one."""
    names = [name for name in table if kept.match(name) and name not in RENAMED]
    older = [metric for name, metric in OLDER.items() if name.startswith(prefix)]
    return [table[name] for name in names] + older


def _without(metric: ExposedMetric, labels: Iterable[str]) -> ExposedMetric:
    return replace(metric, labels=tuple(label for label in metric.labels if label not in labels))


def _with(profile: Profile, labels: Labels) -> Profile:
    return replace(profile, fixed={**profile.fixed, **labels})
