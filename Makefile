# `make help` explains every target. Needs Python 3.11 or newer and nothing else.
.DEFAULT_GOAL := help
.PHONY: help lab edit test slow notebooks site handout looks pictures platforms browser hub seats crowd student grade collect report lint format bench grid mutants upgrade clean

PYTHON ?= python3
ARGS ?=
# cpu or cuda; only Linux has a choice.
TORCH ?= cpu
CPU_INDEX ?= https://download.pytorch.org/whl/cpu
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check
READY := .venv/.ready
BROWSER := .venv/.browser
SITE := .venv/.site
HUB := .venv/.hub
PROXY := configurable-http-proxy@5.1.0
STUDENTS ?= 2
PORT ?= 8000
# Where the Python that .venv was made from is gone, set everything up again.
$(shell $(BIN)/python -c '' 2>/dev/null || rm -f $(READY))
# Several kernels at once: one thread each is faster than all fighting for the cores.
ONE_THREAD := OMP_NUM_THREADS=1

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  ARGS='...' is passed on: make lab ARGS='--no-browser --port 9000'."
	@echo "  PYTHON=python3.12 chooses the Python that .venv is made from."
	@echo "  On Linux TORCH=cuda installs PyTorch with CUDA instead of the small build: make clean lab TORCH=cuda."

lab: $(READY) ## set everything up (once) and open your copy of the lessons in JupyterLab
	@$(BIN)/python -m lnorm_utils $(ARGS)

edit: $(READY) ## open the course's own notebooks instead, to change the course
	@$(BIN)/python -m lnorm_utils --edit $(ARGS)

test: $(READY) lint ## set everything up (once), then lint, unit tests and every notebook re-executed
	$(ONE_THREAD) $(BIN)/python -m pytest $(ARGS)

notebooks: $(READY) ## re-execute all notebooks and freeze their outputs; twice changes no byte
	$(ONE_THREAD) $(BIN)/python tests/tools/freeze.py $(ARGS)

site: $(SITE) ## write the web edition into the folder site: every lesson as a page that needs no Python
	@$(ONE_THREAD) $(BIN)/python -m lnorm_utils.web site $(ARGS)

handout: $(SITE) ## write one lesson as a single HTML file: make handout LESSON=collapse
	@test -n "$(LESSON)" || { echo "Say which: make handout LESSON=collapse, or LESSON=06"; exit 1; }
	@$(ONE_THREAD) $(BIN)/python -m lnorm_utils.web handout $(LESSON) $(ARGS)

looks: $(READY) ## draw all pictures and explorers as pages in build/looks, to be looked at
	$(ONE_THREAD) $(BIN)/python tests/tools/looks.py

pictures: $(BROWSER) ## draw the pictures of the README afresh, from the course itself
	$(ONE_THREAD) $(BIN)/python tests/tools/pictures.py

slow: $(READY) ## run what takes longer: every mistake in every lesson, broken notebooks, the grader
	$(ONE_THREAD) $(BIN)/python -m pytest tests/slow $(ARGS)

platforms: $(READY) ## re-execute all notebooks in many environments, and with the oldest versions
	$(BIN)/python tests/tools/platforms.py $(ARGS)

browser: $(BROWSER) ## open every lesson in JupyterLab in Chromium, move every slider, look for errors
	$(ONE_THREAD) $(BIN)/python -m pytest tests/browser $(ARGS)

hub: $(HUB) ## run JupyterHub for a class on this machine, to try it out: make hub STUDENTS=3 PORT=8000
	@LNORM_HUB_PORT="$(PORT)" $(BIN)/python deploy/hub.py run --students "$(STUDENTS)" $(ARGS)

seats: $(HUB) ## write codes for the seats of a class, to print: make seats STUDENTS=30
	@$(BIN)/python deploy/hub.py seats --students "$(STUDENTS)" $(ARGS)

crowd: $(HUB) $(BROWSER) ## let simulated students work, fail and break in on the hub: make crowd STUDENTS=30
	$(ONE_THREAD) $(BIN)/python tests/tools/crowd.py $(STUDENTS)

student: $(READY) ## write a copy without answers for students: make student LESSONS="01 02" ZIP=../week1.zip
	@test -n "$(OUT)$(ZIP)" || { echo "Say where: make student ZIP=../week1.zip, or OUT=../students for a folder"; exit 1; }
	@$(BIN)/python -m lnorm_utils.grading student $(if $(OUT),"$(OUT)") $(if $(ZIP),--zip "$(ZIP)") \
	$(if $(LESSONS),--lessons $(LESSONS)) $(ARGS)

grade: $(READY) ## grade what students hand in: make grade SUBMISSION=moodle.zip OUT=../week1-graded
	@test -n "$(SUBMISSION)" || { echo "Say what: make grade SUBMISSION=folder, a zip archive, or a notebook"; exit 1; }
	@$(BIN)/python -m lnorm_utils.grading grade "$(SUBMISSION)" $(if $(OUT),--out "$(OUT)") $(ARGS)

collect: $(READY) ## collect what students of a hub have done: sudo make collect HOMES=/home OUT=../week1
	@test -n "$(HOMES)" && test -n "$(OUT)" || { echo "Say where, and where to: sudo make collect HOMES=/home OUT=../week1"; exit 1; }
	@$(BIN)/python -m lnorm_utils.grading homes "$(HOMES)" --out "$(OUT)" $(ARGS)

report: $(READY) ## write the report of several graded parts: make report GRADED="part1 part2" OUT=../all
	@test -n "$(GRADED)" && test -n "$(OUT)" || { echo "Say what, and where: make report GRADED=\"part1 part2\" OUT=../all"; exit 1; }
	@$(BIN)/python -m lnorm_utils.grading report $(GRADED) --out "$(OUT)" $(ARGS)

lint: $(READY) ## check the style of code and notebooks, and the types of the package
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## rewrite code and notebooks in that style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## print the speed measurements side by side
	$(ONE_THREAD) $(BIN)/python tests/tools/bench.py $(ARGS)

grid: $(READY) ## train the 80 small transformers of lesson 15 again: 20 minutes on one core
	$(ONE_THREAD) $(BIN)/python tests/tools/grid.py

mutants: $(READY) ## plant mistakes in a layer norm and see that tests catch each
	$(BIN)/python tests/tools/mutants.py $(ARGS)

# uv resolves for every supported Python and system at once, and installs nothing. What only one
# system needs, such as CUDA, is pinned with a marker.
upgrade: ## resolve the ranges of pyproject.toml afresh, for constraints.txt and environment.yml
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && \
	$(PYTHON) -m venv "$$fresh" && "$$fresh/bin/python" -m pip install -q --disable-pip-version-check uv && \
	head -n 1 constraints.txt > "$$fresh/constraints.txt" && \
	"$$fresh/bin/uv" pip compile -q --universal --python-version 3.11 --fork-strategy fewest \
	--no-annotate --no-header --all-extras --upgrade pyproject.toml >> "$$fresh/constraints.txt" && \
	awk -F '==?' 'NR == FNR { sub(/ ;.*/, ""); pin[$$1] = $$2; next } \
	{ name = $$1; sub(/^ *- /, "", name); if (name == "pytorch-cpu") name = "torch" } \
	NF > 1 && name in pin { sub(/=[0-9].*/, "=" pin[name]) } { print }' \
	"$$fresh/constraints.txt" environment.yml > "$$fresh/environment.yml" && \
	cp "$$fresh/constraints.txt" . && cp "$$fresh/environment.yml" . && cp environment.yml .binder

clean: ## remove the environment and all caches
	rm -f $(READY) $(BROWSER) $(SITE) $(HUB)  # first, for this may be interrupted too
	rm -rf .venv .pytest_cache .ruff_cache build site

# The stamp is written last, so an interrupted first set-up starts afresh at the next call. A later one
# goes on with what there is, for it may be interrupted by a missing network.
$(READY): pyproject.toml constraints.txt $(wildcard .jupyter/*)
	@command -v $(PYTHON) > /dev/null || { echo "There is no $(PYTHON) here. This course needs Python 3.11 or newer; name yours: make lab PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("This course needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Name another: make lab PYTHON=python3.12")'
	@test "$(TORCH)" = cpu || test "$(TORCH)" = cuda || { echo "TORCH is '$(TORCH)'. Choose cpu or cuda."; exit 1; }
	@echo "Setting up .venv: once, a few minutes, about 1.5 GB of disk."
	@test -f $@ || $(PYTHON) -m venv --clear .venv || { echo "Python can't make a virtual environment; the lines above say why. On Debian and Ubuntu this may help: sudo apt install python3-venv"; exit 1; }
	@trap 'exit 130' INT; quiet=; \
	if [ "$$(uname -s)-$(TORCH)" = Linux-cpu ]; then \
	echo "Installing PyTorch without CUDA, a download of about 200 MB."; \
	if $(PIP) --retries 1 --timeout 10 --index-url $(CPU_INDEX) --no-deps $$(grep '^torch==' constraints.txt) 2> .venv/torch.log; then quiet=-q; \
	elif grep -q 'Errno 28' .venv/torch.log; then echo "The disk is full. The course needs 1.5 GB."; exit 1; \
	else echo "PyTorch's small build can't be fetched (.venv/torch.log says why), so PyTorch comes with CUDA, a download of 2.7 GB. Ctrl+C stops it."; fi; fi; \
	echo "Installing everything else, which takes about a minute."; \
	$(PIP) $$quiet -c constraints.txt -e '.[lab,test]' || { echo "The set-up has stopped; the lines above say why. It needs a network and 1.5 GB of free disk. To go on, call make again."; exit 1; }
	@touch $@

$(BROWSER): $(SITE)
	@$(PIP) -c constraints.txt -e '.[browser]'
	@touch $@

$(SITE): $(READY)
	@$(PIP) -q -c constraints.txt -e '.[site]'
	@touch $@

$(HUB): $(READY)
	@node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2> /dev/null && command -v npm > /dev/null || { echo "The hub's proxy needs Node.js 18 or newer, and npm. On Debian and Ubuntu: sudo apt install nodejs npm"; exit 1; }
	@$(PIP) -q -c constraints.txt -e '.[hub]'
	@npm install --silent --no-audit --no-fund --no-save --prefix .venv $(PROXY)
	@touch $@
