# Two commands for a fresh machine with Python 3.11 or newer:
#   make demo    train on the bundled network, and look at what was learnt
#   make test    all tests, doctests, style and types
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test slow audit setup clean

demo: $(INSTALLED)
	@$(BIN)/coembed demo

# a process of tests for every core: each leaves the others theirs
test: export OMP_NUM_THREADS ?= 1
test: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto --dist worksteal

# needs COEMBED_DATA, the folder with the benchmark networks, to be worth its while
slow: $(INSTALLED)
	$(BIN)/python -m pytest -m slow

setup: $(INSTALLED)

# known weaknesses of what is installed; needs the network
audit: $(INSTALLED)
	$(PIP) install pip-audit
	$(BIN)/python -m pip_audit --no-deps --disable-pip -r requirements.txt

# torch comes first and alone, so that nothing else pulls another build of it; all else must have the right hash
$(INSTALLED): requirements.txt requirements-torch.txt pyproject.toml
	@echo "Setting up $(VENV) (once; torch is large, this takes some minutes) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -r requirements-torch.txt
	@$(PIP) install --require-hashes --no-deps -r requirements.txt
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

clean:
	rm -rf $(VENV) demo
