# Everything a contributor runs. Python 3.11+ and make are all that has to be there: the first
# target that needs an environment makes one in .venv. Nothing outside this folder is written
# (temporary files aside): caches of pip, pyright and node lie in .cache.
#
#   make demo      the main job on a sample chat, with a kill in the middle
#   make test      every check: lint, types, import rules, tests     (.ci/run calls this)
#   make lint      the checks that run no test
#   make test-all  the tests on each supported Python found on PATH
#   make test-oldest  the tests with the oldest releases of what Turnfold depends on
#   make nightly   the long tests too, with many more generated examples
#   make bench     benchmarks against the disk and other stores; bench-quick is its short form
#   make clean     removes what make made
#
# PYTHON=python3.12 chooses the interpreter, WORKERS=4 the number of test processes,
# TESTS="tests/log -k torn" what `make test` runs.

SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:

SUPPORTED := 3.11 3.12 3.13
WORKERS ?= 2
TESTS ?=
VENV ?= .venv
BIN := $(VENV)/bin

export PIP_CACHE_DIR := $(CURDIR)/.cache/pip
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_CACHE_DIR := $(CURDIR)/.cache/pyright
# Pyright would ask the network for a newer pyright.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export npm_config_cache := $(CURDIR)/.cache/npm
unexport PYTHONPATH PYTHONHOME

# A name on PATH may be a shim for a version that isn't installed, so each is tried.
define find_python
for python in $(PYTHON) $(foreach v,3.13 3.12 3.11,python$(v)) python3 python; do \
	if $$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' \
		>/dev/null 2>&1; then break; fi; \
	$(if $(PYTHON),echo "PYTHON=$(PYTHON) is not Python 3.11 or newer with venv and pip" >&2; exit 1;) \
	python=; \
done; \
if [ -z "$$python" ]; then \
	echo "Python 3.11 or newer with venv and pip is needed: install it, or set PYTHON=" >&2; \
	exit 1; \
fi
endef

.PHONY: help
help:
	@sed -n 's/^#   make/make/p' Makefile

# --- environments: one to run, and what the checks need on top ------------------------------

$(BIN)/python:
	@$(find_python); echo "making $(VENV) with $$($$python --version)"; \
	$$python -m venv --clear $(VENV)

$(VENV)/runtime.stamp: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install -qq --editable .  # -qq: errors only
	@touch $@

# Pip reads dependency groups from 25.1 on; the one that came with Python may be older.
$(VENV)/dev.stamp: pyproject.toml $(VENV)/runtime.stamp
	@$(BIN)/python -m pip install -qq --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install -qq --group dev
	@touch $@

.PHONY: demo
demo: $(VENV)/runtime.stamp
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT && cd "$$directory" \
		&& "$(abspath $(BIN))/turnfold" demo

# --- checks -----------------------------------------------------------------------------------

# `make -k lint` goes on after a check that fails; `make -j2 lint` uses both cores.
.PHONY: lint ruff imports mypy pyright
lint: ruff imports mypy pyright

ruff: $(VENV)/dev.stamp
	@echo "ruff"; $(BIN)/ruff check --quiet && $(BIN)/ruff format --quiet --check

# Its report of kept contracts is of interest only beside a broken one.
imports: $(VENV)/dev.stamp
	@echo "import-linter"; report=$$($(BIN)/lint-imports --no-logo 2>&1) \
		|| { echo "$$report"; exit 1; }

mypy: $(VENV)/dev.stamp
	@echo "mypy --strict"; $(BIN)/mypy --no-error-summary

pyright: $(VENV)/dev.stamp
	@echo "pyright"; $(BIN)/pyright --pythonpath $(BIN)/python

PYTEST = -m pytest -n $(WORKERS) --dist loadgroup

# The tests come last, so that the last line is pytest's own summary.
.PHONY: test
test: lint
	@$(BIN)/python $(PYTEST) --hypothesis-profile=ci $(TESTS)

.PHONY: nightly
nightly: lint
	@$(BIN)/python $(PYTEST) --hypothesis-profile=nightly -m "" --timeout=3600 $(TESTS)

.PHONY: test-all
test-all:
	@status=0; found=; \
	for version in $(SUPPORTED); do \
		if python$$version -c 'import ensurepip, venv' >/dev/null 2>&1; then \
			found="$$found $$version"; \
			echo "== Python $$version"; \
			$(MAKE) test-on PYTHON=python$$version VENV=.venv-$$version || status=1; \
		else \
			echo "== Python $$version is not on PATH: skipped"; \
		fi; \
	done; \
	if [ -z "$$found" ]; then echo "none of $(SUPPORTED) is on PATH" >&2; exit 1; fi; \
	exit $$status

.PHONY: test-on
test-on: $(VENV)/dev.stamp
	@$(BIN)/python $(PYTEST) --hypothesis-profile=ci $(TESTS)

OLDEST := sed -n '/^dependencies = /,/^]/s/^ *"\(.*\)>=\([0-9.]*\)".*/\1==\2/p' pyproject.toml

.PHONY: test-oldest
test-oldest:
	@$(MAKE) .venv-oldest/dev.stamp VENV=.venv-oldest
	@.venv-oldest/bin/python -m pip install -qq $$($(OLDEST))
	@$(MAKE) test-on VENV=.venv-oldest

# --- benchmarks -------------------------------------------------------------------------------

# Other stores have an environment of their own; one that can't be installed is left out.
PEERS := sed -n '/^bench = /,/^]/s/^ *"\([^"]*\)".*/\1/p' pyproject.toml

.PHONY: bench bench-quick
bench:
	@$(MAKE) .venv-bench/peers.stamp VENV=.venv-bench
	@.venv-bench/bin/python benchmarks
bench-quick: $(VENV)/runtime.stamp
	@$(BIN)/python benchmarks --quick

$(VENV)/peers.stamp: pyproject.toml $(VENV)/runtime.stamp
	@$(PEERS) | while read -r peer; do \
		$(BIN)/python -m pip install -qq "$$peer" || echo "$$peer can't be installed"; \
	done
	@touch $@

# --- tidying ----------------------------------------------------------------------------------

.PHONY: clean
clean:
	@rm -rf .venv .venv-* .cache build dist turnfold.egg-info .coverage .hypothesis \
		.import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find actors events tests turnfold docs -name __pycache__ -type d -prune -exec rm -rf {} +
