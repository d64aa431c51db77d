PYTHON ?= python3
VENV ?= .venv
OLDEST ?= .venv-oldest
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test test-oldest test-numpy test-slow lint docs structure reproduce bench bench-limits bench-tables bench-exports load faults validate clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# What an installation is made of, but for Python, which is read where it is.
PARTS := pyproject.toml setup.py $(wildcard src/tempocal/kernels/*.[ch])

$(VENV)/.runtime: $(PARTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[cli,report]"
	@touch $@

# All at once, for each call compiles the loops. Of the packages Python compiles what it imports.
$(VENV)/.development: $(PARTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[test,lint,bench,docs]"
	@touch $@ $(VENV)/.runtime $(VENV)/.documentation

$(VENV)/.experiments: $(PARTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[experiments]"
	@touch $@ $(VENV)/.runtime

$(VENV)/.documentation: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@

# Versions in pyproject.toml change, and pip would keep what is newer: it is made anew.
$(OLDEST)/.development: $(PARTS) tests/oldest_versions.py
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip
	$(PYTHON) tests/oldest_versions.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --no-compile --constraint $(OLDEST)/constraints.txt --editable ".[test]"
	@touch $@

demo: $(VENV)/.runtime  ## calibrate simulated matches, globally and along time
	$(BIN)/python -m tempocal.demo --output demo-output

test: $(VENV)/.development  ## run the tests and the examples in the docstrings
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test-oldest: $(OLDEST)/.development  ## run the tests with the oldest versions that pyproject.toml allows
	$(OLDEST)/bin/python -m pytest --numprocesses 2 --dist loadfile

test-numpy: $(VENV)/.development  ## run all tests without the compiled loops; skips those of the loops themselves
	TEMPOCAL_KERNELS=numpy $(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test-slow: $(VENV)/.development  ## run the cases that make test leaves out, and all laws on examples drawn at random
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m slow tests
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m "hypothesis and not slow" tests

lint: $(VENV)/.development  ## style, types and the import contract
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.documentation  ## build the documentation
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

structure: $(VENV)/.runtime  ## names used twice, lines, and the files that typical calls enter
	$(BIN)/python -m benchmarks.structure

reproduce: $(VENV)/.experiments  ## run the experiments of the paper on the data in TEMPOCAL_DATA (hours; resumes after a kill)
	$(BIN)/python -m experiments run

bench: $(VENV)/.development  ## time the fits and metrics beside other libraries
	$(BIN)/python -m benchmarks

bench-limits: $(VENV)/.development  ## how far from the limit: growth, memory, copies, imports
	$(BIN)/python -m benchmarks.limits

bench-tables: $(VENV)/.development  ## time fits to 100 million rows of Parquet, and Spark beside DuckDB
	$(BIN)/python -m benchmarks.tables

bench-exports: $(VENV)/.development  ## how far ONNX, torch, SQL and the scorer are from predict_proba
	$(BIN)/python -m benchmarks.exports

load: $(VENV)/.development  ## hold the service under load for five minutes, then stop it 100 times
	$(BIN)/python -m benchmarks.load

faults: $(VENV)/.development  ## kill a process that saves, and one that tracks sequences, 1,000 times each
	$(BIN)/python tests/faults/kill_during_save.py --runs 1000
	$(BIN)/python tests/faults/kill_during_tracking.py --runs 1000

validate: $(VENV)/.runtime  ## coverage, excess and false alarms by simulation, resumes after a kill (two hours)
	$(BIN)/python -m validation

clean:  ## remove what the commands above made
	rm -rf $(VENV) $(OLDEST) demo-output validation-output experiments-output docs/_build
