"""On-policy distillation: how close the student comes to its teacher.

verl's loss names these metrics `distillation/...`, and the trainer puts `actor/` in front before it logs
them. Both names are in the catalog; a dashboard wants the logged one.
"""

from dataclasses import replace

from .metric import Metric

_OPD = "verl docs/algo/opd.md"
_LOSSES = "verl verl/trainer/distillation/losses.py"

_LOGGED: tuple[Metric, ...] = (
    Metric(
        "actor/distillation/loss",
        "Distillation loss",
        "none",
        "Divergence between student and teacher over response tokens, aggregated, before "
        "distillation_loss_coef. Compare with actor/pg_loss to choose that coefficient; with teacher and "
        "student the same model it is close to 0.",
        better="lower",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/abs_loss",
        "Absolute distillation loss",
        "none",
        "Mean absolute per-token loss of the single-sample KL estimators. Signed ones such as k1 cancel in "
        "the plain loss, so this is the one to watch with them.",
        better="lower",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/loss_max",
        "Largest distillation loss of a token",
        "none",
        "Largest per-token distillation loss in the batch, before loss_max_clamp. Outliers far above the "
        "mean are what that clamp is for.",
        better="lower",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/loss_min",
        "Smallest distillation loss of a token",
        "none",
        "Smallest per-token distillation loss in the batch, before loss_max_clamp; below 0 with the k1 estimator.",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/overlap_ratio",
        "Overlap of the two models' top tokens",
        "percentunit",
        "Share of the teacher's top-k tokens that are among the student's top-k too, averaged over response "
        "tokens. Near 1 the two agree on what may come next, in the states the student visits.",
        better="higher",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/overlap_token_advantage",
        "Advantage on tokens both models rank high",
        "none",
        "Negative KL contribution of the teacher's top-k tokens that the student ranks in its top-k too, "
        "averaged over positions that have such a token; 0 also when no position has one, so read it beside "
        "the overlap.",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/student_mass",
        "Student's mass on the teacher's top tokens",
        "percentunit",
        "Probability that the student gives the teacher's top-k tokens together, averaged over response "
        "tokens. It should rise as the student learns.",
        better="higher",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/student_mass_max",
        "Student's highest mass on top tokens",
        "percentunit",
        "Highest probability, over the batch's response tokens, that the student gives the teacher's top-k tokens.",
        better="higher",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/student_mass_min",
        "Student's lowest mass on top tokens",
        "percentunit",
        "Lowest probability, over the batch's response tokens, that the student gives the teacher's top-k tokens.",
        better="higher",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/teacher_mass",
        "Teacher's mass on its own top tokens",
        "percentunit",
        "Probability that the teacher's top-k tokens cover, averaged over response tokens. Low means that "
        "the top-k loss cuts off much of the teacher: k is too small, or the student has wandered into "
        "unlikely text.",
        better="higher",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/teacher_mass_max",
        "Teacher's highest mass on its top tokens",
        "percentunit",
        "Highest probability, over the batch's response tokens, that the teacher's top-k tokens cover.",
        better="higher",
        source=_OPD,
    ),
    Metric(
        "actor/distillation/teacher_mass_min",
        "Teacher's lowest mass on its top tokens",
        "percentunit",
        "Lowest probability, over the batch's response tokens, that the teacher's top-k tokens cover.",
        better="higher",
        source=_OPD,
    ),
)


def _under_the_name_of_the_loss(logged: Metric) -> Metric:
    key = logged.key.removeprefix("actor/")
    return replace(
        logged,
        key=key,
        title=f"{logged.title} (bare)",
        meaning=f"{logged.key} under the name that verl's loss gives it, without the prefix that verl's "
        "trainers add before they log; this series is empty with them.",
        source=_LOSSES,
    )


METRICS: tuple[Metric, ...] = (*_LOGGED, *map(_under_the_name_of_the_loss, _LOGGED))
