# One environment serves every target; it is made once and remade only when its inputs change.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup figure1 test test-all bench docs lint format clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "tightrope needs Python 3.11 or later; set it with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing tightrope into $(VENV) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt hatchling editables
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[dev]'
	@touch $@

setup: $(READY) ## create .venv with pinned dependencies (the other targets do it by themselves)

figure1: $(READY) ## reproduce the paper's experiment in full into results/figure1
	@$(BIN)/tightrope reproduce figure1 --out results/figure1

test: $(READY) ## run the tests (under six minutes on two cores)
	@$(BIN)/python -m pytest -n 2 -m 'not slow'

# .ci/run, which has run `make test` before, says DONE=test, so that nothing is run twice.
test-all: $(READY) $(if $(filter test,$(DONE)),,test) ## run the slow proofs as well
	@$(BIN)/python -m pytest -n 2 -m slow || test $$? -eq 5

bench: $(READY) ## measure speed as ratios taken in one run
	@$(BIN)/python -m benchmarks

docs: $(READY) ## build the site into site/, without a network, strict about broken links
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "site/index.html"

lint: $(READY) ## linter, formatter and type checker
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

format: $(READY) ## format the code
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

clean: ## remove the environment and built files, never results
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis
