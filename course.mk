# Targets for authors and lecturers, besides those of the Makefile that includes this file.
.PHONY: test check slow notebooks site polls browser hub student grade release tool

EXTRAS := lab,test
BROWSER := .venv/.browser
SITE := .venv/.site
HUB := .venv/.hub
STAMPS += $(BROWSER) $(SITE) $(HUB)
PROXY := configurable-http-proxy@5.1.0
# This independent parser tests the polls that the course writes.
GIFT := gift-pegjs@1.0.2
PORT ?= 8000
# Several kernels run at once, and are faster with one thread each than if they compete for cores.
ONE_THREAD := OMP_NUM_THREADS=1
# The folders from which `tools` and `tests/tools` import.
TOOLS := PYTHONPATH=tools:tests/tools:tests/browser $(ONE_THREAD) $(BIN)/python

define LINT
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy
endef

test: $(READY) ## set everything up (once), then check style and types, and run unit tests and every notebook
	$(LINT)
	$(ONE_THREAD) $(BIN)/python -m pytest --durations 10 $(ARGS)

check: $(READY) ## check style and types, or the exercises of one lesson in a few seconds: make check LESSON=mean
ifdef LESSON
	@$(ONE_THREAD) $(BIN)/python -m lnorm_staff.check_lesson $(LESSON)
	@$(ONE_THREAD) $(BIN)/python -m pytest -n 0 -q --disable-warnings tests/exercises/test_student_answers.py -k "[$(LESSON)-" || test $$? = 5  # pytest returns 5 if a lesson has no such tests
else
	$(LINT)
endif

notebooks: $(READY) ## re-execute all notebooks and freeze their outputs
	$(TOOLS) tools/freeze.py $(ARGS)

site: $(SITE) ## write the web edition to the folder site, or one lesson to a single file: make site LESSON=collapse
	@$(ONE_THREAD) $(BIN)/python -m lnorm_staff.web $(if $(LESSON),handout $(LESSON),site) $(ARGS)

polls: $(SITE) ## write predictions for Moodle, QTI, and spreadsheets: make polls LESSONS="01 06" ADDRESS=https://you.github.io/course
	@$(ONE_THREAD) $(BIN)/python -m lnorm_staff.web polls $(if $(LESSONS),--lessons $(LESSONS)) $(if $(ADDRESS),--site "$(ADDRESS)") $(ARGS)

slow: $(READY) ## run the slow tests: lessons filled in and graded, broken notebooks, the grader's sandbox
	$(ONE_THREAD) $(BIN)/python -m pytest tests/slow $(ARGS)

browser: $(BROWSER) ## test the web edition, and three lessons in JupyterLab, in Chromium
	$(ONE_THREAD) $(BIN)/python -m pytest tests/browser --no-loadscope-reorder --reruns 1 -rfER $(ARGS)  # in the order of names, JupyterLab's long tests begin early

hub: $(HUB) ## run JupyterHub for a class on this machine until Ctrl+C: make hub PORT=8000
	@mkdir -p -m 700 .hub && $(BIN)/python -m compileall -q lnorm_utils lnorm_diagnose lnorm_course  # because students can't write there
	@cd .hub && LNORM_HUB_PORT="$(PORT)" exec "$(CURDIR)/$(BIN)/python" -m jupyterhub -f ../deploy/jupyterhub_config.py $(ARGS)

student: $(READY) ## write a copy without answers for students: make student LESSONS="01 02" ZIP=../week1.zip
	@test -n "$(ZIP)" || { echo "Say where to write the copy: make student ZIP=../week1.zip"; exit 1; }
	@$(BIN)/python -m lnorm_staff.grading student "$(ZIP)" $(if $(LESSONS),--lessons $(LESSONS)) $(ARGS)

grade: $(READY) ## grade what students hand in: make grade SUBMISSION=moodle.zip OUT=../week1-graded CLASS=worksheet.csv
	@test -n "$(SUBMISSION)" || { echo "Say what to grade: make grade SUBMISSION=folder, a zip archive, or a notebook"; exit 1; }
	@$(BIN)/python -m lnorm_staff.grading grade "$(SUBMISSION)" $(if $(OUT),--out "$(OUT)") \
	$(if $(CLASS),--class "$(CLASS)") $(if $(LESSONS),--lessons $(LESSONS)) $(ARGS)

release: ## build and check the wheel, the course for students, and the web edition in a clean clone, without publishing them
	@PYTHON="$(PYTHON)" .ci/release

# Only authors need these tools, now and then. The first lines of each file say what the tool does.
tool: $(if $(filter bench pictures,$(NAME)),$(BROWSER),$(READY)) ## run a file from the folder tools: make tool NAME=speed
	@test -f "tools/$(NAME).py" || { echo "Say which tool to run: make tool NAME=speed, or a different file in tools"; exit 1; }
	$(TOOLS) tools/$(NAME).py $(ARGS)

$(BROWSER): $(SITE)
	@$(PIP) -c constraints.txt -e '.[browser]'
	@command -v npm > /dev/null && npm install --loglevel=error --no-audit --no-fund --no-save --prefix .venv/polls $(GIFT) > /dev/null || echo "Without npm, no independent parser checks the polls."
	@touch $@

$(SITE): $(READY)
	@$(PIP) -q -c constraints.txt -e '.[site]'
	@touch $@

$(HUB): $(READY)
	@node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2> /dev/null && command -v npm > /dev/null || { echo "The hub's proxy needs Node.js 18 or newer, and npm. On Debian and Ubuntu: sudo apt install nodejs npm"; exit 1; }
	@$(PIP) -q -c constraints.txt -e '.[hub]'
	@npm install --loglevel=error --no-audit --no-fund --no-save --prefix .venv $(PROXY) > /dev/null || { echo "npm can't install the hub's proxy; the lines above say why. It needs a network connection. To continue, run make again."; exit 1; }
	@touch $@
