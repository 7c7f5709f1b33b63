"""What goes wrong while a dashboard is built."""


class BuildError(ValueError):
    """A dashboard that cannot be built. The message is one sentence that names where and what to do."""
