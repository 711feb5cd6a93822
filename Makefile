# `make` alone lists the targets.
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1

# What the paper's own tables need, and which they are.
PAPER_PLANS := paper presets
PAPER_TABLES := votes recovered ablation-votes ablation-recovered paper-plus

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-cluster test-cpus test-cpu test-studio studio-pictures fuzz check lint types results site format docs docs-serve bench-setup bench bench-paper tables gallery clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## create .venv and install the package with its tested pins (does nothing when up to date)

$(STAMP): pyproject.toml constraints.txt
	@test -x $(PY) || python3 -m venv $(VENV)
	@echo "Installing into $(VENV) ..."
	@$(PY) -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

demo: setup ## find four laws of physics in the tables they come from
	@$(VENV)/bin/prunesymnet demo

# Files are handed out in their order, which ends with small ones: by the number of their tests, as is usual, the longest
# ones would come last, when nothing is left for the other cores.
# Each core has its tests: searches in them start no processes of their own, unless a test is about that.
PYTEST := LOKY_MAX_CPU_COUNT=1 $(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder -q

test: setup ## the tests, on every core
	@$(PYTEST) -m "not slow"

test-all: setup ## the slow tests too, with coverage (which takes as long again)
	@$(PYTEST) --cov --cov-report=term

test-cluster: setup ## one search on a Dask cluster and on Ray, and what happens when workers die (two minutes)
	@$(PY) -m pip install --quiet -c constraints.txt -e '.[cluster]'
	@$(PY) -m pytest -q tests/search/test_workers.py

test-cpus: setup ## search, training, pruning and coefficients as other processors would compute them (a quarter of an hour)
	@$(PY) tests/processors.py

# That a stage can be switched off does not hang on the processor.
test-cpu: setup ## the same for one processor that is not this machine's own
	@$(PY) tests/processors.py --one -k "not switched_off" tests/search/test_search.py tests/search/test_default_search.py tests/network tests/coefficients

CHROMIUM ?= /usr/bin/chromium
$(VENV)/.browser: $(STAMP)
	@$(PY) -m pip install --quiet -c constraints.txt -e '.[browser]'
	@test -x $(CHROMIUM) || (apt-get update -q && apt-get install -y -q chromium fonts-texgyre-math)
	@touch $@

test-studio: $(VENV)/.browser ## the studio in a real browser, from a file to a formula; axe-core's checks of its pages (minutes)
	@STUDIO_BROWSER=$(CHROMIUM) $(PY) -m pytest -q tests/studio

studio-pictures: $(VENV)/.browser ## the screenshots of docs/studio.md, taken anew (a minute)
	@$(PY) docs/pictures/studio.py $(CHROMIUM)

fuzz: setup ## random tables, texts and damaged files, new ones each time (half an hour); `make test` tries a twentieth
	@$(PY) -m pip install --quiet -c constraints.txt -e '.[fuzz]' || echo "atheris can't be installed here: left out"
	@FUZZ=1 $(PY) -m pytest -n auto --dist load -q tests/fuzz
	@! $(PY) -c "import atheris" 2>/dev/null || $(PY) tests/fuzz/with_atheris.py parser -runs=1000000
	@! $(PY) -c "import atheris" 2>/dev/null || $(PY) tests/fuzz/with_atheris.py model -runs=20000

check: setup ## formatting, lint, types, that the tables are those of the runs, and that the documentation can be built
	@$(MAKE) --no-print-directory -j 2 --output-sync=target lint types results site

lint: setup
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .

types: setup
	@$(PY) -m mypy

results: setup
	@$(PY) -m benchmarks.tables --check
	@$(PY) -m benchmarks.readme --check

site: setup
	@$(PY) -m mkdocs build --strict --quiet --site-dir .cache/site

format: setup ## put the code into shape
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

docs: setup ## build the documentation into site/
	@$(PY) -m mkdocs build --strict --quiet
	@echo "site/index.html"

docs-serve: setup ## show the documentation in a browser, and what you change in it at once
	@$(PY) -m mkdocs serve --strict

bench-setup: $(VENV)/.rivals ## install the rivals that the benchmarks compare with (RILS-ROLS is compiled: one minute)

$(VENV)/.rivals: $(STAMP)
	@$(PY) -m pip install --quiet -c constraints.txt -e '.[bench,cluster]'
	@$(PY) -m pip install --quiet -c constraints.txt pybind11 setuptools wheel  # what rils-rols needs to be built
	@$(PY) -m pip install --quiet -c constraints.txt --no-build-isolation rils-rols || echo "RILS-ROLS can't be built here: left out"
	@touch $@

bench: bench-setup ## measure what the README reports (hours; goes on where it was); writes benchmarks/results/
	@$(PY) -m benchmarks.core
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m benchmarks.speed
	@$(PY) -m benchmarks.scanning
	@$(PY) -m benchmarks.startup
	@$(PY) -m benchmarks.time_limits
	@$(PY) -m benchmarks.scaling
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m benchmarks.coverage
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m benchmarks.structure
	@$(PY) -m benchmarks.run laws --file benchmarks/results/laws.jsonl
	@$(PY) -m benchmarks.dsr_nguyen --jobs -1
	@$(PY) -m benchmarks.run
	@$(MAKE) --no-print-directory tables

bench-paper: bench-setup ## measure the paper's tables again (hours; goes on where it was); QUICK=1: a tenth of them, ten minutes
ifdef QUICK
	@$(PY) -m benchmarks.run $(PAPER_PLANS) --every 10 --seeds 1 --keep --file .cache/bench-paper.jsonl
	@$(PY) -m benchmarks.tables --file .cache/bench-paper.jsonl $(PAPER_TABLES)
else
	@$(PY) -m benchmarks.run $(PAPER_PLANS) $(if $(CAMPAIGN),--campaign $(CAMPAIGN))
	@$(PY) -m benchmarks.dsr_nguyen --jobs -1
	@$(MAKE) --no-print-directory tables
endif

tables: setup ## tables and figures from benchmarks/results/, and the README with them
	@$(PY) -m benchmarks.tables
	@$(PY) -m benchmarks.dsr_nguyen --table
	@$(PY) -m benchmarks.figures
	@$(PY) -m benchmarks.readme

gallery: setup ## search the tables of the gallery anew (three minutes), with pictures and page
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=. $(PY) docs/gallery/make.py

clean: ## remove what make made
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.* .cache site
