# Every target makes the virtual environment first if there is none: nothing is done by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: setup dashboards client-wheel lint format test bench docs clean

setup: $(INSTALLED)

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

dashboards: $(INSTALLED)
	$(BIN)/rli dashboards build --out dist/dashboards

# The client alone, for training environments, where packages named `generator` have no business.
client-wheel: $(INSTALLED)
	rm -rf build/client && mkdir -p build/client
	cp -r rl_insight LICENSE docs/client.md packaging/client/pyproject.toml build/client
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist build/client

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/rli dashboards lint --strict

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Needs Prometheus and promtool: apt-get install prometheus, or their release in PATH.
test: $(INSTALLED)
	$(BIN)/python -m pytest

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

# What is written from code: docs/metrics.md, docs/linter.md and the golden outlines of the dashboards.
docs: $(INSTALLED)
	$(BIN)/python -m dashboards_src.catalog.document
	$(BIN)/python -m tests.outlines

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
