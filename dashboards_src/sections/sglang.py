"""The rollout engine where it is SGLang: the same questions, answered from its own metrics."""

from dashboards_src.catalog.exposed import names
from dashboards_src.replicas import Signal, Worst, fraction, latency, line, rate_of
from dashboards_src.run import BY_RUN, RUN
from dashboards_src.sections.engine import (
    KV_CACHE_LIMITS,
    REPLICA,
    one_replica,
    replica_variable,
    straggler_panels,
)
from generator.dashboard import Section
from generator.panels import heatmap, timeseries
from generator.promql import Names, Scope
from generator.queries import Query

RUNNING = "sglang:num_running_reqs"
QUEUED = "sglang:num_queue_reqs"
TOKEN_USAGE = "sglang:token_usage"
RETRACTED = names("sglang:num_retracted_requests_total")
INTER_TOKEN = names("sglang:inter_token_latency_seconds")
WHOLE_REQUEST = "sglang:e2e_request_latency_seconds"
FIRST_TOKEN = "sglang:time_to_first_token_seconds"
GENERATED = "sglang:generation_tokens_total"
PROMPTED = "sglang:prompt_tokens_total"


def of_schedulers(metric: Names, *matchers: str, scope: Scope = RUN) -> str:
    """A scheduler's gauge, one series a replica.

    Ranks of tensor parallelism may all report the same number, ranks of data parallelism each
    report their own: so the highest of the first, and the sum of the second.
    """
    return scope.level(_once(scope, scope.select(metric, *matchers)))


def _retractions(scope: Scope, *matchers: str) -> str:
    """A scheduler's counter, one series a replica."""
    return _once(scope, scope.rate(RETRACTED, *matchers))


def _once(scope: Scope, each: str) -> str:
    return scope.sum(scope.max(each, "replica", "dp_rank"), "replica")


def _counted(title: str, metric: Names, *, description: str, worst: Worst = "highest", unit: str = "short") -> Signal:
    return Signal(
        title=title,
        description=description,
        unit=unit,
        each=lambda scope: of_schedulers(metric, scope=scope),
        together=(Query(RUN.sum(of_schedulers(metric)), BY_RUN),),
        worst=worst,
    )


THROUGHPUT = (
    _counted(
        "Generation throughput",
        "sglang:gen_throughput",
        description="Tokens a second as SGLang's scheduler measures it over its last decode batches. It should "
        "hold level while a batch is generated and fall only in the long tail at its end.",
        worst="lowest",
        unit="suffix: tok/s",
    ),
    rate_of(
        "Generated tokens a second",
        GENERATED,
        description="Tokens of finished requests a second: it comes in waves, since SGLang counts a request's "
        "tokens when it ends.",
        unit="suffix: tok/s",
    ),
    rate_of(
        "Prompt tokens a second",
        PROMPTED,
        description="Prompt tokens of finished requests a second, those found in the radix cache included.",
        unit="suffix: tok/s",
    ),
)

REQUESTS = (
    _counted(
        "Running requests",
        RUNNING,
        description="Requests in the engine's batch. Few on one replica while others are full: the load "
        "balancer is uneven, or that replica sits in the long tail.",
        worst="lowest",
    ),
    _counted(
        "Queued requests",
        QUEUED,
        description="Requests that wait for a place in the batch. A queue that stays means that the KV cache or "
        "max_running_requests bounds throughput: add replicas, or give the engine more memory.",
    ),
    _counted(
        "Paused requests",
        "sglang:num_paused_reqs",
        description="Requests that an async weight update has paused. They should go on within seconds; what "
        "stays paused was forgotten.",
    ),
)

CACHE = (
    fraction(
        "KV cache in use",
        TOKEN_USAGE,
        description="Share of the token pool in use. Near 100 % with requests queued SGLang retracts requests "
        "and computes them again.",
        thresholds=KV_CACHE_LIMITS,
    ),
    fraction(
        "Radix-cache hit rate",
        "sglang:cache_hit_rate",
        description="Share of prompt tokens found in the radix cache, of the last prefill batches. Samples of "
        "one prompt and turns of one conversation should hit; a weight update empties the cache.",
        worst="lowest",
    ),
    Signal(
        title="Retractions a second",
        each=_retractions,
        together=(Query(RUN.sum(_retractions(RUN)), BY_RUN),),
        description="Requests thrown out of the batch because the token pool was full; their tokens are computed "
        "again. Should be near zero: lower max_running_requests or raise mem_fraction_static.",
        unit="suffix: /s",
        worst="highest",
    ),
    _counted(
        "Retracted requests that wait",
        "sglang:num_retracted_reqs",
        description="Requests that were thrown out and now wait to run again.",
    ),
)

LATENCIES = (
    latency(
        "Time to first token",
        FIRST_TOKEN,
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
        WHOLE_REQUEST,
        description="From a request's arrival to its last token. In synchronous training the slowest request "
        "of a batch holds up the step.",
    ),
    latency(
        "Time in the queue",
        names("sglang:queue_time_seconds"),
        description="How long requests waited before they entered the batch.",
    ),
)

SPECULATION = (
    fraction(
        "Draft acceptance rate",
        "sglang:spec_accept_rate",
        description="Share of speculated tokens that the model accepted. Falling over training means that the "
        "draft model no longer resembles the policy: train it along, or switch speculation off.",
        worst="lowest",
    ),
    Signal(
        title="Tokens a verification step",
        description="Tokens that one verification step yields on average; 1 means that speculation brings "
        "nothing and only costs.",
        unit="short",
        each=lambda scope: scope.level(scope.max(scope.select("sglang:spec_accept_length"), "replica")),
        together=(Query(RUN.avg(RUN.select("sglang:spec_accept_length")), BY_RUN),),
        worst="lowest",
    ),
)

_STAGES = timeseries(
    "Where a request's time goes",
    Query(RUN.mean("sglang:per_stage_req_latency_seconds", by=("stage",)), "{{stage}} " + BY_RUN),
    description="Mean time that a request spends in each stage of SGLang's pipeline.",
    unit="s",
    minimum=0,
    width=12,
)

_ABORTED = timeseries(
    "Finished and aborted requests",
    Query(RUN.sum(RUN.rate("sglang:num_requests_total")), f"finished {BY_RUN}"),
    Query(RUN.sum(RUN.rate("sglang:num_aborted_requests_total")), f"aborted {BY_RUN}"),
    description="Requests a second that ended, and that the trainer called back, as async modes do. Aborted "
    "requests in synchronous training are lost samples.",
    unit="suffix: req/s",
    minimum=0,
    width=12,
)

_LENGTHS = (
    heatmap(
        "Prompt length",
        Query(RUN.buckets("sglang:prompt_tokens_histogram"), "{{le}}", shape="heatmap"),
        description="How long the prompts of finished requests were, in tokens; only with SGLang's token "
        "histograms switched on. Choose one experiment: a heatmap cannot tell two apart.",
        unit="short",
    ),
    heatmap(
        "Generation length",
        Query(RUN.buckets("sglang:generation_tokens_histogram"), "{{le}}", shape="heatmap"),
        description="How many tokens finished requests generated; only with SGLang's token histograms switched "
        "on. A second cloud far above the first is the long tail that a synchronous step waits for.",
        unit="short",
    ),
)

SECTIONS = (
    Section("Rollout: throughput and load", [p for s in (*THROUGHPUT, *REQUESTS) for p in line(s)]),
    Section(
        "Rollout: stragglers",
        straggler_panels(inter_token=INTER_TOKEN, whole_request=WHOLE_REQUEST, load=of_schedulers(RUNNING)),
    ),
    Section("Rollout: latency", [p for s in LATENCIES for p in line(s)]),
    Section("Rollout: cache", [p for s in CACHE for p in line(s)]),
    Section("Rollout: requests and lengths", [_ABORTED, _STAGES, *_LENGTHS]),
    Section("Rollout: speculative decoding", [p for s in SPECULATION for p in line(s)]),
    Section(
        "Rollout: replica $replica",
        one_replica(
            running=of_schedulers(RUNNING, REPLICA),
            waiting=of_schedulers(QUEUED, REPLICA),
            cache=RUN.max(RUN.select(TOKEN_USAGE, REPLICA), "replica"),
            generated=of_schedulers("sglang:gen_throughput", REPLICA),
            prompted=RUN.sum(RUN.rate(PROMPTED, REPLICA), "replica"),
            thrown_out=_retractions(RUN, REPLICA),
            first_token=FIRST_TOKEN,
            inter_token=INTER_TOKEN,
            whole_request=WHOLE_REQUEST,
            generation_length="sglang:generation_tokens_histogram",
        ),
        variables=[replica_variable(RUNNING)],
        repeat="replica",
    ),
)
