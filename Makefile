# Everything runs in .venv inside this folder. PYTHON picks the interpreter that makes it.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PEERS := .venv-peers/.installed

.PHONY: install test lint types unit test-slow docs demo relevance bench bench-check clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

test: install lint types unit

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

unit: install
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --cov --cov-report=
	$(BIN)/python -m coverage report --fail-under=90
	$(BIN)/python -m coverage report --include='*/quintet/ranking/*,*/quintet/contracts/*,*/quintet/filters/*' --fail-under=100

test-slow: install
	$(BIN)/python -m pytest -q -m slow

docs: install
	$(BIN)/python -m quintet.cli.reference docs/cli.md

demo: install
	@sh docs/demo.sh

relevance: install
	$(BIN)/python bench/relevance.py

$(PEERS): pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -e '.[hnsw,peers]'
	@touch $(PEERS)

bench: $(PEERS)
	.venv-peers/bin/python bench/peers.py

bench-check: install
	$(BIN)/python bench/check.py

clean:
	rm -rf .venv .venv-peers .quintet .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist build
