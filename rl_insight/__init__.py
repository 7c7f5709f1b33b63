"""RL-Insight's drop-in client: what a training process imports.

Standard library only, and nothing of the rest of this tree, so that it can be
installed alone into a training environment.
"""

__version__ = "1.0.0.dev0"
