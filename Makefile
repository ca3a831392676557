# `make help` explains every target. Needs Python 3.11 or newer and nothing else.
.DEFAULT_GOAL := help
.PHONY: help lab test slow notebooks looks platforms browser student grade lint format bench mutants mutmut upgrade clean

PYTHON ?= python3
ARGS ?=
# Of `make mutmut`: the files to change, and tests besides those of pyproject.toml.
ONLY ?= lnorm_utils/*
TESTS ?=
BIN := .venv/bin
READY := .venv/.ready
BROWSER := .venv/.browser
MUTMUT := .venv/.mutmut
# Several kernels at once: one thread each is faster than all fighting for the cores.
ONE_THREAD := OMP_NUM_THREADS=1

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  ARGS='...' is passed on: make lab ARGS='--no-browser --port 9000', make test ARGS='-k mean'."
	@echo "  PYTHON=python3.12 chooses the Python that .venv is made from."

lab: $(READY) ## set everything up (once) and open the lessons in JupyterLab
	$(BIN)/python -m jupyterlab notebooks $(ARGS)

test: $(READY) lint ## set everything up (once), then lint, unit tests and every notebook re-executed
	$(ONE_THREAD) $(BIN)/python -m pytest $(ARGS)

notebooks: $(READY) ## re-execute all notebooks and freeze their outputs; twice changes no byte
	$(ONE_THREAD) $(BIN)/python tests/freeze.py $(ARGS)

looks: $(READY) ## draw all pictures and sliders afresh in tests/looks, to be looked at and kept
	$(ONE_THREAD) $(BIN)/python tests/looks.py

slow: $(READY) ## run what takes longer: every mistake in every lesson, broken notebooks, the grader
	$(ONE_THREAD) $(BIN)/python -m pytest tests/slow $(ARGS)

platforms: $(READY) ## re-execute all notebooks in many environments, and with the oldest versions
	$(BIN)/python tests/platforms.py $(ARGS)

browser: $(BROWSER) ## open every lesson in JupyterLab in Chromium, move every slider, look for errors
	$(ONE_THREAD) $(BIN)/python -m pytest tests/browser $(ARGS)

student: $(READY) ## write a copy without answers for students: make student OUT=../students
	@test -n "$(OUT)" || { echo "Say where: make student OUT=../students"; exit 1; }
	$(BIN)/python -m lnorm_utils.exercises.student_copy "$(OUT)"

grade: $(READY) ## grade what students hand in: make grade SUBMISSION=folder ARGS='--csv grades.csv'
	@test -n "$(SUBMISSION)" || { echo "Say what: make grade SUBMISSION=folder-or-notebook"; exit 1; }
	$(BIN)/python -m lnorm_utils.exercises.grade "$(SUBMISSION)" $(ARGS)

lint: $(READY) ## check the style of code and notebooks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY) ## rewrite code and notebooks in that style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## print the speed measurements side by side
	$(ONE_THREAD) $(BIN)/python tests/bench.py $(ARGS)

mutants: $(READY) ## plant mistakes in a layer norm and see that tests catch each
	$(BIN)/python tests/mutants.py $(ARGS)

mutmut: $(MUTMUT) ## change the package in every small way: make mutmut ONLY=lnorm_utils/modules.py
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && \
	cp -R lnorm_utils tests notebooks "$$fresh" && more='$(TESTS)' && \
	sed -e 's|"lnorm_utils/\*"|"$(ONLY)"|' -e "s|test_selection = .|&$${more:+\"$$more\",}|" \
	pyproject.toml > "$$fresh/pyproject.toml" && cd "$$fresh" && \
	$(ONE_THREAD) "$(CURDIR)/$(BIN)/mutmut" run $(ARGS) && \
	for mutant in $$("$(CURDIR)/$(BIN)/mutmut" results | sed -n 's/: survived$$//p'); do \
	"$(CURDIR)/$(BIN)/mutmut" show $$mutant; done

upgrade: ## resolve the ranges of pyproject.toml afresh and rewrite constraints.txt
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && \
	$(PYTHON) -m venv "$$fresh" && \
	"$$fresh/bin/python" -m pip install --disable-pip-version-check -e '.[lab,test,browser,mutation]' && \
	{ head -n 1 constraints.txt; "$$fresh/bin/python" -m pip freeze --exclude-editable | sed 's/+[^+]*$$//' | LC_ALL=C sort -f; } > "$$fresh/constraints.txt" && \
	cp "$$fresh/constraints.txt" constraints.txt

clean: ## remove the environment and all caches
	rm -f $(READY) $(BROWSER) $(MUTMUT)  # first, for this may be interrupted too
	rm -rf .venv .pytest_cache .ruff_cache

# The stamp is written last, so an interrupted set-up starts afresh at the next call.
$(READY): pyproject.toml constraints.txt .jupyter/jupyter_server_config.py
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("This course needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Name another: make lab PYTHON=python3.12")'
	@echo "Setting up .venv: once, a few minutes, about 1.5 GB of disk."
	@test -f $@ || $(PYTHON) -m venv --clear .venv || { echo "Python cannot make a virtual environment. On Debian and Ubuntu: sudo apt install python3-venv"; exit 1; }
	@rm -f $@
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[lab,test]'
	@touch $@

$(MUTMUT): $(READY)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[mutation]'
	@touch $@

$(BROWSER): $(READY)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[browser]'
	@touch $@
