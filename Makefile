# Everything below needs only python3 (3.11 or newer) and make; it sets up .venv by itself.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help setup demo reproduce test lint types layers check wheel bench clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "python3 is older than 3.11; run: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(PIP) install --quiet --editable '.[demo]'
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints-tests.txt
	$(PIP) install --quiet --editable '.[dev]' --constraint constraints-tests.txt
	@touch $@ $(VENV)/.demo

setup: $(VENV)/.dev  ## install everything the tests need into .venv

demo: $(VENV)/.demo  ## train a model, explain 100 predictions, write demo-output/index.html
	$(BIN)/taylorpoda demo --out demo-output

reproduce: $(VENV)/.dev  ## the paper's tables on ten rows of two data sets, into reproduce-output/index.html
	$(BIN)/taylorpoda reproduce tables --fast --out reproduce-output

test: $(VENV)/.dev  ## run the tests
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

lint: $(VENV)/.dev  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## mypy --strict
	$(BIN)/mypy

layers: $(VENV)/.dev  ## import-linter: a lower room never imports an upper one
	$(BIN)/lint-imports

check: lint types layers  ## lint, types and layers

wheel: $(VENV)/.dev  ## build the wheel and explain one prediction with it, alone in a clean environment
	PYTHON=$(PYTHON) sh .ci/wheel

bench: $(VENV)/.dev  ## the benchmarks against peers
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

clean:  ## remove what was built
	rm -rf $(VENV) build dist demo-output reproduce-output .coverage htmlcov .mypy_cache .ruff_cache .hypothesis
