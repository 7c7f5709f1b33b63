"""The rollout engine where it is vLLM."""

from dashboards_src.catalog.exposed import names
from dashboards_src.replicas import counted, fraction, latency, line, quotient, rate_of
from dashboards_src.run import BY_REPLICA, BY_RUN, RUN
from dashboards_src.sections.engine import (
    KV_CACHE_LIMITS,
    REPLICA,
    one_replica,
    replica_variable,
    straggler_panels,
)
from generator.dashboard import Section
from generator.fields import GREEN, GREY, value_text
from generator.panels import heatmap, status_history, timeseries
from generator.queries import Query

KV_CACHE = names("vllm:kv_cache_usage_perc")
INTER_TOKEN = names("vllm:inter_token_latency_seconds")
WAITING = "vllm:num_requests_waiting"
RUNNING = "vllm:num_requests_running"

THROUGHPUT = (
    rate_of(
        "Generated tokens a second",
        "vllm:generation_tokens_total",
        description="Tokens that the engine sampled a second. It should hold level while a batch is generated "
        "and fall only in the long tail at its end.",
        unit="suffix: tok/s",
    ),
    rate_of(
        "Prompt tokens a second",
        "vllm:prompt_tokens_total",
        description="Prompt tokens prefilled a second, those found in the prefix cache included.",
        unit="suffix: tok/s",
    ),
)

REQUESTS = (
    counted(
        "Running requests",
        RUNNING,
        description="Requests in the engine's batch. Few on one replica while others are full: the load "
        "balancer is uneven, or that replica sits in the long tail.",
        worst="lowest",
    ),
    counted(
        "Waiting requests",
        WAITING,
        description="Requests that wait for a place in the batch. A queue that stays means that the KV cache "
        "or max_num_seqs bounds throughput: add replicas, or give the engine more memory.",
    ),
)

CACHE = (
    fraction(
        "KV cache in use",
        KV_CACHE,
        description="Share of the KV-cache blocks in use. Near 100 % with requests waiting the engine preempts "
        "requests and computes them again.",
        thresholds=KV_CACHE_LIMITS,
    ),
    quotient(
        "Prefix-cache hit rate",
        names("vllm:prefix_cache_hits_total"),
        names("vllm:prefix_cache_queries_total"),
        description="Share of prompt tokens found in the prefix cache. Samples of one prompt and turns of one "
        "conversation should hit; it falls to zero after each weight update, which empties the cache.",
    ),
    rate_of(
        "Preemptions a second",
        "vllm:num_preemptions_total",
        description="Requests thrown out of the batch because the KV cache was full; their tokens are computed "
        "again. Should be zero: lower max_num_seqs or raise gpu_memory_utilization.",
        unit="suffix: /s",
        worst="highest",
    ),
)

LATENCIES = (
    latency(
        "Time to first token",
        "vllm:time_to_first_token_seconds",
        description="From a request's arrival to its first token: queue and prefill.",
    ),
    latency(
        "Time between tokens",
        INTER_TOKEN,
        description="From one token of a request to the next. It grows with the batch and with sequence length; "
        "a replica far above the others is slow, not merely busy.",
    ),
    latency(
        "Time of a whole request",
        "vllm:e2e_request_latency_seconds",
        description="From a request's arrival to its last token. In synchronous training the slowest request "
        "of a batch holds up the step.",
    ),
    latency(
        "Time in the queue",
        names("vllm:request_queue_time_seconds"),
        description="How long requests waited before they entered the batch.",
    ),
    latency(
        "Prefill time",
        "vllm:request_prefill_time_seconds",
        description="How long the prompt of a request took to compute, once it ran.",
    ),
    latency(
        "Decode time",
        "vllm:request_decode_time_seconds",
        description="How long a request generated, from its first token to its last.",
    ),
)

SPECULATION = (
    quotient(
        "Draft acceptance rate",
        "vllm:spec_decode_num_accepted_tokens_total",
        "vllm:spec_decode_num_draft_tokens_total",
        description="Share of speculated tokens that the model accepted. Falling over training means that the "
        "draft model no longer resembles the policy: train it along, or switch speculation off.",
    ),
    quotient(
        "Tokens accepted a draft",
        "vllm:spec_decode_num_accepted_tokens_total",
        "vllm:spec_decode_num_drafts_total",
        description="How many speculated tokens a verification keeps on average; with the one that "
        "verification itself yields, that is one less than the tokens a forward pass brings.",
        unit="short",
        maximum=None,
    ),
)

_FINISHED = timeseries(
    "Why requests finish",
    Query(RUN.sum(RUN.rate("vllm:request_success_total"), "finished_reason"), "{{finished_reason}} " + BY_RUN),
    description="Finished requests a second by reason. `length` cut off at max_tokens: many of them bias the "
    "reward against long answers. `abort` are requests that the trainer called back, as async modes do.",
    unit="suffix: req/s",
    stack="normal",
    minimum=0,
)

_WHY_WAITING = timeseries(
    "Why requests wait",
    Query(RUN.sum(RUN.select("vllm:num_requests_waiting_by_reason"), "reason"), "{{reason}} " + BY_RUN),
    description="Waiting requests by reason: `capacity` waits for room in the KV cache or the batch, `deferred` "
    "for something outside, such as a KV transfer or a grammar. Older vLLM does not tell.",
    unit="short",
    stack="normal",
    minimum=0,
)

_LENGTHS = (
    heatmap(
        "Prompt length",
        Query(RUN.buckets("vllm:request_prompt_tokens"), "{{le}}", shape="heatmap"),
        description="How long the prompts of finished requests were, in tokens. Choose one experiment: a heatmap "
        "cannot tell two apart.",
        unit="short",
    ),
    heatmap(
        "Generation length",
        Query(RUN.buckets("vllm:request_generation_tokens"), "{{le}}", shape="heatmap"),
        description="How many tokens finished requests generated. A second cloud far above the first is the "
        "long tail that a synchronous step waits for; a cloud at max_tokens is cut off.",
        unit="short",
    ),
)

_SLEEP = status_history(
    "Awake or asleep",
    Query(
        RUN.max(RUN.select("vllm:engine_sleep_state", 'sleep_state="awake"'), "replica"),
        BY_REPLICA,
        min_step="15s",
    ),
    description="Whether a replica holds its weights. Where rollout and training share devices it sleeps while "
    "the trainer works; a replica that never wakes again hangs. Only reported with sleep mode on.",
    unit="none",
    mappings=[value_text({"1": ("awake", GREEN), "0": ("asleep", GREY)})],
    height=9,
)


SECTIONS = (
    Section("Rollout: throughput and load", [p for s in (*THROUGHPUT, *REQUESTS) for p in line(s)]),
    Section(
        "Rollout: stragglers",
        straggler_panels(
            inter_token=INTER_TOKEN,
            whole_request="vllm:e2e_request_latency_seconds",
            load=RUN.sum(RUN.select(RUNNING), "replica"),
        ),
    ),
    Section(
        "Rollout: latency",
        [p for s in LATENCIES for p in line(s)],
    ),
    Section("Rollout: cache", [p for s in CACHE for p in line(s)]),
    Section("Rollout: requests and lengths", [_FINISHED, _WHY_WAITING, _SLEEP, *_LENGTHS]),
    Section("Rollout: speculative decoding", [p for s in SPECULATION for p in line(s)]),
    Section(
        "Rollout: replica $replica",
        one_replica(
            running=RUN.sum(RUN.select(RUNNING, REPLICA), "replica"),
            waiting=RUN.sum(RUN.select(WAITING, REPLICA), "replica"),
            cache=RUN.max(RUN.select(KV_CACHE, REPLICA), "replica"),
            generated=RUN.sum(RUN.rate("vllm:generation_tokens_total", REPLICA), "replica"),
            prompted=RUN.sum(RUN.rate("vllm:prompt_tokens_total", REPLICA), "replica"),
            thrown_out=RUN.sum(RUN.rate("vllm:num_preemptions_total", REPLICA), "replica"),
            first_token="vllm:time_to_first_token_seconds",
            inter_token=INTER_TOKEN,
            whole_request="vllm:e2e_request_latency_seconds",
            generation_length="vllm:request_generation_tokens",
        ),
        variables=[replica_variable(RUNNING)],
        repeat="replica",
    ),
)
