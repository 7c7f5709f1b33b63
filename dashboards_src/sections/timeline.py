"""Who does what when: the states of rollout replicas and trainer ranks.

In detail, from spans in Tempo, for the lanes and minutes chosen; as an overview, from the
collector's state counters, for any number of lanes and days.
"""

from dashboards_src.run import BY_RUN, RUN
from dashboards_src.scalars import scalars, spread
from dashboards_src.sections.transfer_queue import BACKLOG
from dashboards_src.states import (
    LANE,
    ROLLOUT_LANES,
    STATE,
    STATE_SECONDS,
    TRAINER_LANES,
    state_mappings,
    state_overrides,
)
from generator.dashboard import Section
from generator.fields import Threshold, limits, override, plain
from generator.panel import Panel
from generator.panels import bargauge, status_history, timeseries
from generator.promql import Scope
from generator.queries import Query, TraceQuery
from generator.span_timeline import span_timeline
from generator.variables import Variable

SYNC_TITLE = "Timeline: rollout and training take turns"
ASYNC_TITLE = "Timeline: rollout and training apart"
STATES_NOW = "Share of lanes in each state"
STATE_SHARE_DESCRIPTION = (
    "Share of lanes (rollout replicas and trainer ranks) that are in each state; what is missing to 100 % is idle. "
    "Where both share their devices each rests while the other works, and half is the most there is. "
    "A lane that idles more than before lowers the whole. Choose one experiment: the bands of several are stacked."
)

_FIRST_LANES = [f"{kind}_{number}" for kind in ("replica", "rank") for number in range(8)]

_lanes = Variable(
    "lane",
    "Lanes in detail",
    f"label_values({RUN.select(STATE_SECONDS)}, {LANE})",
    multi=True,
    all_value=".+",
    start=_FIRST_LANES,
    sort="number",
)

_CHOSEN = f'{LANE}=~"$lane"'
_RUN_LABELS = ", ".join(RUN.labels)

BUSY_LIMITS = (Threshold(None, "red"), Threshold(0.3, "orange"), Threshold(0.6, "green"))
"""Colours of a lane's busy fraction where it has devices of its own: below 0.3 it mostly waits."""

BUBBLE_LIMITS = limits(above=(0.3, 0.5))
"""Bubbles: half of the time idle is a waste that a different split of devices mends."""


def share_in_state(*matchers: str) -> str:
    """Share of the lanes in each state, by state: lane seconds a second over the number of lanes."""
    spent = RUN.sum(RUN.rate(STATE_SECONDS, *matchers), STATE)
    # Counted from the same rates: a lane that ends would else leave the count before the sum, or after it.
    lanes = RUN.count(RUN.sum(RUN.rate(STATE_SECONDS, *matchers), LANE))
    return f"{spent} / on ({_RUN_LABELS}) group_left () {lanes}"


def busy_fraction(*matchers: str, scope: Scope = RUN) -> str:
    """Share of its time that each lane spends in any state, by lane. Extrapolation may pass 1."""
    return f"clamp_max({scope.sum(scope.rate(STATE_SECONDS, *matchers), LANE)}, 1)"


def bubbles(*matchers: str) -> str:
    """Share of their time that lanes are idle, all lanes together."""
    return f"1 - {RUN.avg(busy_fraction(*matchers))}"


def _spans(side: str) -> TraceQuery:
    """The state intervals of the chosen lanes; `side` is a further condition on the lane, or empty."""
    # Raw strings in backticks, since the name of a run comes escaped for a regex, with backslashes.
    conditions = (
        f"span.{LANE} =~ `${{lane:regex}}`",
        side,
        *(f"span.{label} =~ `${{{variable}:regex}}`" for label, variable in RUN.filters),
        f'span.{STATE} =~ ".+"',
    )
    return TraceQuery(f"{{{' && '.join(filter(None, conditions))}}} | select(span.{LANE}, span.{STATE})")


def _detail(title: str, side: str, description: str, height: int) -> Panel:
    return span_timeline(
        title,
        _spans(side),
        description=f"{description} Drawn from spans in Tempo: choose lanes above, and minutes rather than hours.",
        lane=LANE,
        owner=RUN.labels,
        colors=state_mappings(),
        height=height,
    )


def _share(title: str, *matchers: str, width: int = 12) -> Panel:
    return timeseries(
        title,
        Query(share_in_state(*matchers), f"{{{{{STATE}}}}} {BY_RUN}"),
        description=STATE_SHARE_DESCRIPTION,
        unit="percentunit",
        stack="normal",
        minimum=0,
        maximum=1,
        width=width,
        overrides=state_overrides(),
    )


def _busy_of_chosen() -> Panel:
    """Without colours that judge: where lanes take turns, the one that is busiest holds up the others."""
    return status_history(
        "Busy fraction of each chosen lane",
        Query(busy_fraction(_CHOSEN), f"{{{{{LANE}}}}} {BY_RUN}", min_step="15s"),
        description="Share of its time that each lane spends in any state. A replica that stands out as busier than "
        "the others is the slow one that they wait for; a lane that fades while others do not waits or hangs.",
        unit="percentunit",
        minimum=0,
        maximum=1,
        color={"mode": "continuous-blues"},
        width=16,
        height=10,
    )


def _least_busy(*, judged: bool, height: int) -> Panel:
    return bargauge(
        "Least busy lanes",
        Query(RUN.bottom(10, busy_fraction(scope=RUN.over_range())), f"{{{{{LANE}}}}} {BY_RUN}", instant=True),
        description="The ten lanes of a run that worked least over all of the time that is shown, of all its lanes.",
        unit="percentunit",
        minimum=0,
        maximum=1,
        thresholds=BUSY_LIMITS if judged else plain("blue"),
        width=8,
        height=height,
    )


def _spread_of_busy(title: str, *matchers: str) -> Panel:
    each = busy_fraction(*matchers)
    return timeseries(
        title,
        Query(RUN.min(each), f"lowest {BY_RUN}"),
        Query(RUN.median(each), f"median {BY_RUN}"),
        Query(RUN.max(each), f"highest {BY_RUN}"),
        description="Busy fraction over all lanes of this side: its lowest, median and highest lane. Lines that part "
        "mean unequal work.",
        unit="percentunit",
        minimum=0,
        maximum=1,
        fill=0,
        overrides=[override("^median ", custom__lineWidth=2)],
        width=8,
    )


SYNC = Section(
    SYNC_TITLE,
    [
        _detail(
            "States of rollout replicas and trainer ranks",
            "",
            "Rollout replicas above, trainer ranks below. In synchronous training they take turns on the same devices: "
            "the gap between the last replica's end and the first rank's start is lost, and so is the time in which "
            "most replicas wait for the slowest.",
            18,
        ),
        _share("Share of rollout replicas in each state", ROLLOUT_LANES),
        _share("Share of trainer ranks in each state", TRAINER_LANES),
        timeseries(
            "Bubbles: devices neither generate nor train",
            Query(
                f"clamp_min(1 - {RUN.avg(busy_fraction(ROLLOUT_LANES))} - {RUN.avg(busy_fraction(TRAINER_LANES))}, 0)",
                BY_RUN,
            ),
            description="Share of time in which devices that rollout and training share do neither: the long tail of "
            "generation, weight sync, rewards. Not meaningful where each side has devices of its own.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            thresholds=BUBBLE_LIMITS,
            width=8,
        ),
        _spread_of_busy("Busy fraction of rollout replicas", ROLLOUT_LANES),
        _spread_of_busy("Busy fraction of trainer ranks", TRAINER_LANES),
        _busy_of_chosen(),
        _least_busy(judged=False, height=10),
    ],
    variables=[_lanes],
)

ASYNC = Section(
    ASYNC_TITLE,
    [
        _detail(
            "States of rollout replicas",
            f'span.{LANE} =~ "replica_.*"',
            "Each side has devices of its own here. Replicas should generate without gaps; gaps at the same moment on "
            "all are weight sync, gaps on one are a replica without work.",
            9,
        ),
        _detail(
            "States of trainer ranks",
            f'span.{LANE} !~ "replica_.*"',
            "Each side has devices of its own here. Gaps between updates are the trainer's wait for samples.",
            9,
        ),
        timeseries(
            "Bubbles on either side",
            Query(bubbles(ROLLOUT_LANES), f"rollout {BY_RUN}"),
            Query(bubbles(TRAINER_LANES), f"trainer {BY_RUN}"),
            description="Share of time that rollout replicas and trainer ranks are idle. Move devices from the side "
            "that idles to the other; if both idle, the queue or the weight sync between them is to blame.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            fill=0,
            line_width=2,
            thresholds=BUBBLE_LIMITS,
            width=8,
        ),
        spread("Staleness of trained trajectories", "training/off_policy/trajectory_staleness", width=8, height=8),
        scalars(
            "Time of a weight sync",
            {
                "to the engines": "timing_s/update_weights",
                "fully async": "timing_s/timing_s/param_sync",
                "switch to training": "timing_s/switch_to_trainer",
            },
            width=8,
            height=8,
        ),
        timeseries(
            "Queue depth",
            Query(RUN.sum(BACKLOG, "task_name"), f"{{{{task_name}}}} {BY_RUN}"),
            description="Samples that lie in TransferQueue ready for a task that has not taken them. Growing: the "
            "trainer is slower than rollout, and samples grow stale. Always empty: rollout is slower.",
            unit="short",
            minimum=0,
            width=8,
        ),
        _share("Share of replicas in each state", ROLLOUT_LANES, width=8),
        _share("Share of ranks in each state", TRAINER_LANES, width=8),
        _spread_of_busy("Busy fraction of replicas", ROLLOUT_LANES),
        _spread_of_busy("Busy fraction of ranks", TRAINER_LANES),
        _least_busy(judged=True, height=8),
    ],
    variables=[_lanes],
)
