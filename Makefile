# `make help` explains the targets, which need only Python 3.11 or newer.
.DEFAULT_GOAL := help
.PHONY: help lab clean

PYTHON ?= python3
ARGS ?=
# The build of PyTorch to install: cpu or cuda. Only Linux has a choice.
TORCH ?= cpu
CPU_INDEX ?= https://download.pytorch.org/whl/cpu
EXTRAS := lab
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check
READY := .venv/.ready
STAMPS := $(READY)
# If the Python that .venv was made from is gone, set everything up again.
$(shell $(BIN)/python -c '' 2>/dev/null || rm -f $(READY))

# This file has more targets, for authors and lecturers. Students don't have it.
-include course.mk

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  ARGS='...' is passed on: make lab ARGS='--no-browser --port 9000'."
	@echo "  PYTHON=python3.12 chooses the Python that .venv is made from."
	@echo "  On Linux, TORCH=cuda installs PyTorch with CUDA instead of the small build: make clean lab TORCH=cuda."

lab: $(READY) ## set everything up (once) and open your copy of the lessons in JupyterLab
	@$(BIN)/python -m lnorm_course $(ARGS)

clean: ## remove the environment and all caches
	rm -f $(STAMPS)  # first, because cleaning may be interrupted, too
	rm -rf .venv .pytest_cache .ruff_cache build site

# The stamp is written last, so an interrupted first setup starts over the next time. A later setup
# continues with what's installed, because a missing network may interrupt it.
$(READY): pyproject.toml constraints.txt $(wildcard .jupyter/*)
	@command -v $(PYTHON) > /dev/null || { echo "$(PYTHON) wasn't found. This course needs Python 3.11 or newer; name yours: make lab PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("This course needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + ". Name a newer one: make lab PYTHON=python3.12")'
	@test "$(TORCH)" = cpu || test "$(TORCH)" = cuda || { echo "TORCH is '$(TORCH)'. Choose cpu or cuda."; exit 1; }
	@echo "Setting up .venv: this takes a few minutes, once, and 1.5 GB of disk space."
	@test -f $@ || $(PYTHON) -m venv --clear .venv || { echo "Python can't create a virtual environment; the lines above say why. On Debian and Ubuntu, this may help: sudo apt install python3-venv"; exit 1; }
	@trap 'exit 130' INT; quiet=; \
	if [ "$$(uname -s)-$(TORCH)" = Linux-cpu ]; then \
	echo "Installing PyTorch without CUDA, a download of about 200 MB."; \
	if $(PIP) --retries 1 --timeout 10 --index-url $(CPU_INDEX) --no-deps $$(grep '^torch==' constraints.txt) 2> .venv/torch.log; then quiet=-q; \
	elif grep -q 'Errno 28' .venv/torch.log; then echo "The disk is full. The course needs 1.5 GB of space."; exit 1; \
	else echo "PyTorch's small build can't be downloaded (.venv/torch.log says why), so PyTorch is installed with CUDA, a download of 2.7 GB. Ctrl+C stops it."; fi; fi; \
	echo "Installing everything else, which takes about a minute."; \
	$(PIP) $$quiet -c constraints.txt -e '.[$(EXTRAS)]' || { echo "Setup has stopped; the lines above say why. It needs a network connection and 1.5 GB of free disk space. To continue, run make again."; exit 1; }
	@touch $@
