# Everything runs in .venv inside this folder. PYTHON picks the interpreter that makes it.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install test lint types unit coverage test-slow demo bench clean

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
	$(BIN)/python -m coverage report --include='*/quintet/ranking/*,*/quintet/contracts/*' --fail-under=100

test-slow: install
	$(BIN)/python -m pytest -q -m slow

demo: install
	@sh docs/demo.sh

bench: install
	$(BIN)/python bench/speed.py

clean:
	rm -rf .venv .quintet .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist build
