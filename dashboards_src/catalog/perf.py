"""Throughput, utilisation and memory of a step."""

from .metric import Metric

_DATA = "verl verl/trainer/ppo/metric_utils.py"
_ENGINE = "verl verl/workers/engine_workers.py"
_OLDER = "verl verl/trainer/ppo/ray_trainer.py"
_TRAINER = "verl verl/trainer/ppo/v1/trainer_base.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "perf/throughput",
        "Tokens a second per GPU",
        "suffix: tok/s",
        "Tokens of the step's batch, prompts and responses, divided by step time and by the number of GPUs; "
        "in the separate async modes the dedicated rollout GPUs count too. Read a fall beside the response "
        "length and the stage times.",
        better="higher",
        source=_DATA,
    ),
    Metric(
        "perf/time_per_step",
        "Time of a step",
        "s",
        "Wall time of a training step, the same as timing_s/step; in fully async training summed over the "
        "updates between two weight syncs.",
        better="lower",
        source=_DATA,
    ),
    Metric(
        "perf/total_num_tokens",
        "Tokens of a step",
        "short",
        "Tokens of all prompts and responses of the step's batch. It follows the response length, and step "
        "time follows it.",
        source=_DATA,
    ),
    Metric(
        "perf/mfu/actor",
        "MFU of the actor's update",
        "percentunit",
        "Estimated FLOPs of the actor's update a second, as a share of what its devices promise, averaged "
        "over the step's mini-batches. A fall at the same lengths means that the update itself has slowed "
        "down.",
        better="higher",
        source=_ENGINE,
    ),
    Metric(
        "perf/mfu/actor_infer",
        "MFU of the log-prob pass",
        "percentunit",
        "Estimated FLOPs of the actor's forward pass for old log-probs a second, as a share of what its "
        "devices promise; a third of the training FLOPs is counted. Only the older trainers log it, trainer "
        "v1 does not.",
        better="higher",
        source=_OLDER,
    ),
    Metric(
        "perf/mfu/critic",
        "MFU of the value model's update",
        "percentunit",
        "Estimated FLOPs of the value model's update a second, as a share of what its devices promise, "
        "averaged over the step's mini-batches.",
        better="higher",
        source=_TRAINER,
    ),
    Metric(
        "perf/max_memory_allocated_gb",
        "Peak GPU memory allocated by the trainer",
        "gbytes",
        "Most GPU memory that PyTorch tensors held in the training process, in GiB, up to this step. Under "
        "this name in supervised training; PPO's trainers log it as actor/perf/max_memory_allocated_gb.",
        better="lower",
        source=_ENGINE,
    ),
    Metric(
        "perf/max_memory_reserved_gb",
        "Peak GPU memory reserved by the trainer",
        "gbytes",
        "Most GPU memory that PyTorch's allocator held in the training process, in GiB, up to this step. "
        "Under this name in supervised training; PPO's trainers log it as actor/perf/max_memory_reserved_gb.",
        better="lower",
        source=_ENGINE,
    ),
    Metric(
        "perf/cpu_memory_used_gb",
        "Host memory in use beside the trainer",
        "gbytes",
        "Memory in use on the training process's host, all processes together, in GiB. Under this name in "
        "supervised training; PPO's trainers log it as actor/perf/cpu_memory_used_gb.",
        better="lower",
        source=_ENGINE,
    ),
)
