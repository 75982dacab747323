# ncudiag: `make demo` shows what it does, `make test` runs every check. Both need only python3 (3.11 or newer) and make.
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

VENV ?= .venv
# The first python on PATH that is new enough; `make PYTHON=/path/to/python3 ...` takes another one.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
PY := $(VENV)/bin/python
DEMO ?= sample_reports/l2-bound/report.csv
# Mirrors of the index and the answer to "is there a newer pip?" are not what these commands are about.
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test lint format bench fuzz mutants samples rules docs clean

help: ## list these commands
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1	\2/p' Makefile | expand -t 18

demo: ## install into .venv, explain a bundled sample report, print the diagnosis
	@echo "demo: installs ncudiag into $(VENV) (first time only) and explains a bundled report, $(DEMO)"
	@$(MAKE) --no-print-directory "$(VENV)/.runtime"
	@$(VENV)/bin/ncudiag explain "$(DEMO)"

test: ## install the developer tools into .venv, run every check that CI runs
	@echo "test: installs the developer tools into $(VENV) (first time only); checks style, types, floors, tests, wheel"
	@$(MAKE) --no-print-directory "$(VENV)/.dev"
	@$(PY) .ci/checks.py

lint: $(VENV)/.dev ## only style, types and import floors (seconds)
	@$(PY) .ci/checks.py --only ruff,format,mypy,floors

format: $(VENV)/.dev ## let ruff format and fix what it can
	@$(PY) -m ruff check --fix . && $(PY) -m ruff format .

bench: $(VENV)/.dev ## print the tables of docs/performance.md: speed and memory beside csv.reader and pandas
	@$(PY) tests/benchmarks/table.py

fuzz: $(VENV)/.dev ## look for inputs that break the readers, rule files, saved answers (FUZZ_SECONDS=60 each)
	@$(PY) -m pip install --quiet --group fuzz
	@for what in report rule saved; do \
	  $(PY) tests/fuzz/fuzz.py $$what $${FUZZ_SECONDS:-60} || exit 1; done

mutants: $(VENV)/.dev ## change the code and see which tests notice (MUTANTS="diagnose --share 0.1"; docs/mutation.md)
	@$(PY) -m pip install --quiet --group mutants
	@$(PY) tests/mutants/run.py $(MUTANTS)

samples: $(VENV)/.dev ## write sample_reports/ again: inputs, golden reports, the README's example
	@$(PY) sample_reports/generate.py
	@$(PY) sample_reports/generate.py --goldens

rules: $(VENV)/.dev ## after an edit of rules/: write the prepared rules and their pages again
	@$(PY) -c 'from ncudiag.rulebook.book import write_prepared; write_prepared()'
	@$(PY) docs/write_pages.py

docs: $(VENV)/.dev ## write the generated pages again, build the site, check it and serve it on this machine
	@$(PY) docs/write_pages.py
	@$(PY) docs/build_site.py --serve

clean: ## remove .venv and everything that was built
	rm -rf "$(VENV)" .cache build dist htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: a command that ran once installs nothing again (and needs no network) until pyproject.toml changes.
$(VENV)/.created:
	@[ -n "$(PYTHON)" ] || { echo "ncudiag needs Python 3.11 or newer; found: $$(python3 --version 2>&1 || true)." >&2; \
	  echo "Install one (Debian, Ubuntu: apt install python3 python3-venv), or name it: make PYTHON=/path/to/python3.12 demo" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "ncudiag needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" --version 2>&1)." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments. Debian, Ubuntu: apt install python3-venv" >&2; exit 1; }
	@"$(PYTHON)" -m venv "$(VENV)"
	@touch "$@"

$(VENV)/.runtime: $(VENV)/.created pyproject.toml
	@echo "installing ncudiag and its run-time packages into $(VENV) (once)"
	@$(PY) -m pip install --quiet --editable .
	@# Byte code now: where PYTHONDONTWRITEBYTECODE is set every start would compile the whole package again.
	@$(PY) -m compileall -q ncudiag
	@touch "$@"

$(VENV)/.dev: $(VENV)/.runtime
	@echo "installing the developer tools into $(VENV) (once)"
	@$(PY) -m pip install --quiet --upgrade 'pip>=25.1'
	@$(PY) -m pip install --quiet --group dev
	@touch "$@"
