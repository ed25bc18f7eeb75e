# Two commands for a fresh machine with Python 3.11 or newer:
#   make demo    train on the bundled network, and look at what was learnt
#   make test    all tests, doctests, style and types
# and further ones: make docs, make slow, make coverage, make dist, make audit
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test slow docs notebooks coverage dist audit setup clean

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

# the site, into build/site; a warning is an error, and so is a link that leads nowhere
docs: $(INSTALLED)
	$(BIN)/python -m sphinx -E -W --keep-going -q docs build/site
	$(BIN)/python benchmarks/check_site.py build/site

# runs the tutorials anew, and keeps what they gave
notebooks: $(INSTALLED)
	$(BIN)/python benchmarks/notebooks.py docs/tutorials/*.ipynb

# what the tests run of the code, in processes of theirs, too; draws the badge
coverage: export OMP_NUM_THREADS ?= 1
coverage: $(INSTALLED)
	@mkdir -p build
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n auto
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --skip-covered --sort=cover | tail -40
	$(BIN)/coverage json -q -o build/coverage.json
	$(BIN)/python benchmarks/badges.py build/coverage.json

# wheel and sdist, into dist; the same bytes every time
dist: $(INSTALLED)
	rm -rf dist
	$(BIN)/python -m build --no-isolation

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
	rm -rf $(VENV) demo build dist
