"""What is promised about speed, measured: each module prints one JSON object."""
