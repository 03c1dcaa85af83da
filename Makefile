# One virtual environment, made once and made again only when pyproject.toml or constraints.txt change.
#   make run PYTHON=python3.12                        another interpreter
#   make run TORCH_FLAGS="--index-url URL"            another source of torch (README: PyTorch's CPU wheels)

PYTHON ?= python3
TORCH_FLAGS ?=

BIN := .venv/bin
READY := .venv/.ready
REPO2DOCKER := .venv-repo2docker/.ready
PIP_INSTALL := -m pip install --disable-pip-version-check --no-compile

.DEFAULT_GOAL := help
.PHONY: help run test lab check lint format types budget clean

help:  ## list what can be asked for
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(READY)  ## run the transport notebook: a picture, a result file, a table of verdicts
	$(BIN)/workbench run transport

test: $(READY) $(REPO2DOCKER)  ## run the whole test suite
	$(BIN)/python -m pytest

lab: $(READY)  ## open the notebooks in JupyterLab
	$(BIN)/workbench lab

check: lint format types  ## lint, format and types

lint: $(READY)
	$(BIN)/ruff check .

format: $(READY)
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/pyright --pythonpath $(BIN)/python

budget: $(READY)  ## measure time and memory against the budgets
	$(BIN)/python .ci/budget.py

clean:  ## remove environments, builds and caches; results stay
	rm -rf .venv .venv-repo2docker build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@if [ -d results ]; then echo "results/ is kept: delete it by hand if you no longer need it"; fi

define REQUIRE_PYTHON
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	version=$$($(PYTHON) -c 'import sys; print("Python %d.%d" % sys.version_info[:2])' 2>/dev/null || echo missing); \
	echo "$(PYTHON) is $$version: the workbench needs Python 3.11 or newer;" \
	"name one, e.g. make $(firstword $(MAKECMDGOALS)) PYTHON=python3.12"; exit 1; }
endef

# torch goes first: as a dependency of something else it would come as the newest build, several GB on Linux.
# Compiling goes last, on all cores, where pip would take one; a few files are meant for other Pythons and fail.
$(READY): pyproject.toml constraints.txt
	$(REQUIRE_PYTHON)
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv
	$(BIN)/python $(PIP_INSTALL) $(TORCH_FLAGS) $(shell grep '^torch==' constraints.txt)
	$(BIN)/python $(PIP_INSTALL) --constraint constraints.txt --editable '.[all]'
	@$(BIN)/python -m compileall -qq -j 0 .venv/lib || true
	@touch $@

# Apart from the rest, for its own pins; it checks binder/ without Docker.
$(REPO2DOCKER): Makefile
	$(REQUIRE_PYTHON)
	@.venv-repo2docker/bin/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv-repo2docker
	.venv-repo2docker/bin/python $(PIP_INSTALL) --quiet jupyter-repo2docker==2026.4.0
	@touch $@
