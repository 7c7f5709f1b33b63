"""What the collector refuses, and how it says so."""

RETRY_SECONDS = 5
"""What `Retry-After` asks of a client whose report may be accepted later."""


class ConfigError(ValueError):
    """Settings that cannot be used. The message is one sentence: what, where, what to do."""


class Refused(Exception):  # noqa: N818  it is an answer, not a fault of ours
    """A request that is answered with an error.

    `status` is the HTTP status, `reason` a word to count it by, `sentence` what the caller is told.
    """

    def __init__(self, status: int, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.reason = reason
        self.sentence = sentence

    @property
    def later(self) -> bool:
        """Whether the same request may be accepted later."""
        return self.status in (429, 503)
