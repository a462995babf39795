# Everything runs in .venv inside this folder. PYTHON is the interpreter that creates it.
PYTHON ?= python3
BIN := .venv/bin
RUNTIME := .venv/.runtime
STAMP := .venv/.installed
PEERS := .venv-peers/.installed

.PHONY: install check test lint types unit test-slow mutants docs demo relevance bench bench-check clean

# Create .venv with everything that development needs.
install: $(STAMP)

$(STAMP): pyproject.toml setup.py constraints.txt $(wildcard src/quintet/embed/canonical/*.[ch])
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(RUNTIME) $(STAMP)

# Only what running needs. Modules are compiled when they are first used: most never are.
$(RUNTIME): pyproject.toml setup.py constraints.txt
	@echo "Installing Quintet into .venv (a download of about 85 MB)"
	@start=$$(date +%s) && $(PYTHON) -m venv .venv && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e . && \
	echo "installed in $$(($$(date +%s) - start)) s, the download included"
	@touch $(RUNTIME)

# While you work: lint, types and the tests of what changed.
check: lint types
	$(BIN)/python tests/changed.py

# Before you propose a change: lint, types, all tests and their coverage.
test: install lint types unit

# Style and format of the code. `ruff check --fix .` and `ruff format .` mend most of it.
lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Types, strictly.
types: install
	$(BIN)/mypy

# All tests but the slow ones, and the coverage that must hold.
unit: install
	$(BIN)/python -m pytest -q -n 3 --dist loadfile --cov --cov-report=
	$(BIN)/python -m coverage report --fail-under=90
	$(BIN)/python -m coverage report --include='*/quintet/query/*,*/quintet/storage/text/*,*/quintet/storage/vectors/*,*/quintet/storage/graph/*' --fail-under=85
	$(BIN)/python -m coverage report --include='*/quintet/ranking/*,*/quintet/contracts/*,*/quintet/filters/*' --fail-under=100

# The tests that take minutes each.
test-slow: install
	$(BIN)/python -m pytest -q -m slow

# Plant faults in the ranking and the contracts; the tests that the manifest names must catch 95 % of them.
SAMPLE ?= 40
SEED ?= 1
mutants: install
	$(BIN)/python tests/mutation --sample $(SAMPLE) --seed $(SEED)

# Write docs/cli.md from the help texts of the commands.
docs: install
	$(BIN)/python -m quintet.cli.reference docs/cli.md

# Index this project's documentation and source, and search them.
demo: $(RUNTIME)
	@sh docs/demo.sh

# Measure the quality of the rankings on public collections; SOURCES is the folder of the judged repositories.
relevance: install
	$(BIN)/python bench/relevance.py
	$(BIN)/python bench/codesearch.py $(if $(SOURCES),--sources $(SOURCES))

$(PEERS): pyproject.toml setup.py
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -e '.[hnsw,peers]'
	@touch $(PEERS)

# Compare speed and quality with other engines, in an environment of their own.
bench: $(PEERS)
	.venv-peers/bin/python bench/peers.py

# Fail if a search or a run became more than 20 % slower than bench/baseline.json.
bench-check: install
	$(BIN)/python bench/check.py

# Remove everything that these targets create.
clean:
	rm -rf .venv .venv-peers .quintet .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage dist build src/*.egg-info src/quintet/embed/canonical/_passes*.so
