"""The `rli` command: one file a command group, each of which parses, calls and prints."""
