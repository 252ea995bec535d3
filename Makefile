# Needs Python 3.10 or newer, make and bash. Node, npm and every checker come into .venv from PyPI.
#
#   make demo     JupyterLab on live charts and the lessons (BROWSER=none PORT=8899: print the address, open nothing)
#   make test     every check; a part of it: lint types js unit notebooks browser
#   make build    sdist, wheel and the front end's module in dist/
#   make lock     write docs/packaging/demo.lock, the versions of all that the lessons in JupyterLab need
#   make traits   write js/src/wire/traits.ts, the page's table of the synced traits, from their declarations
#   make api      write tests/api.txt, the public interface that a test compares
#   make consumer mypy and pyright on a program that uses the installed wheel
#   make release-check  the wheel in an empty environment without Node, in JupyterLab, and a saved page from its file
#   make lowest   the unit tests with the lowest versions of every dependency, on LOWEST_PYTHON=python3.10
#   make newest   the unit tests with the newest versions, on NEWEST_PYTHON="python3.13 python3.14"
#   make gpu      what only a machine with a GPU can measure and record, in build/gpu; needs PyTorch or JAX, not .venv (minutes)
#   make gpu-packages  what "make gpu" imports and such a machine may lack, in .hosts/gpu, for GPU_PYTHON=3.12
#   make bench    every script in benchmarks/
#   make hosts    the widget in every host of docs/hosts.md, each in an environment of its own (minutes)
#   make labels   48 hostile texts as labels in JupyterLab, Voila, marimo, pages, pictures, tables and the clipboard (minutes)
#   make faults   the widget while kernels, servers, connections and pages fail, with a table of the faults (minutes)
#   make real-files  files of real profilers that tests read, from their public repositories (ROOFWIDGET_REAL_FILES=FOLDER: from there)
#   make graders  notebooks with questions under nbgrader and otter-grader, each in an environment of its own (minutes)
#   make mutants  the arithmetic with one wrong operator, number or text at a time: what the tests notice (an hour or more)
#   make fuzz     40,000 damaged profiles, chip files, saved states and messages, and a table of what came of them (minutes)
#   make course   every notebook as a page that needs no Python and no network, with a table of contents, in course/
#   make site     the documentation, the course and the playground as a site in build/docs, opened page by page in Chromium
#                 (minutes); "make docs" is the same
#   make lite     the course as a JupyterLite site in build/lite: Python in the reader's browser (minutes)
#   make clean    remove what was built; distclean also removes .venv and node_modules

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
ifndef TOGETHER
.NOTPARALLEL:
endif
.PHONY: help demo test together lint types js unit notebooks browser mutants hosts labels faults graders fuzz course docs site lite build lock \
  bench bundle clean distclean api consumer release-check traits lowest newest real-files gpu gpu-packages

PYTHON ?= python3
# Names or paths of interpreters.
LOWEST_PYTHON ?= python3.10
NEWEST_PYTHON ?= python3.13 python3.14
GPU_PYTHON ?= 3.12
PORT ?= 8888
DEMO := build/demo

# The environment's own node, npm and tools come before any others.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Without the bytecode of this package each kernel and each command that a test starts compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

help:
	@sed -n '/^#   make/s/^#   //p' Makefile

demo: .venv/.demo bundle
	python docs/make_demo.py $(DEMO)
	exec jupyter lab --ip=127.0.0.1 --port=$(PORT) \
	  $(if $(filter none,$(BROWSER)),--no-browser --ServerApp.port_retries=0) \
	  $(if $(filter 0,$(shell id -u)),--allow-root) \
	  --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url=/doc/tree/$(DEMO)/start.ipynb

# The unit tests are last: their last line says what they left out.
test: together notebooks browser unit

# Two at a time, as mypy and Biome keep one processor each for most of a minute.
together: .venv/.dev js/node_modules/.package-lock.json
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target TOGETHER=yes lint types js

lint: .venv/.dev js/node_modules/.package-lock.json
	ruff check .
	ruff format --check .
	lint-imports --no-logo
	npm --prefix js run lint

types: .venv/.dev js/node_modules/.package-lock.json
	mypy --strict roofwidget tests benchmarks docs hatch_build.py
	npm --prefix js run types

js: bundle
	npm --prefix js test

unit: .venv/.dev bundle
	pytest -n 2 --ignore=tests/browser --ignore=tests/hosts --ignore=tests/faults

notebooks: .venv/.dev bundle
	pytest -n 2 --dist loadfile --nbval-lax --nbval-current-env notebooks

browser: .venv/.dev bundle
	python tests/browser/chromium.py --install
	# A JupyterLab and a Chromium each: most of the time is waiting.
	pytest -n 3 tests/browser tests/hosts

real-files: .venv/.dev
	python -m tests.real_files

# One wrong operator, number or text at a time; docs/trust.md has the scores.
mutants: .venv/.dev js/node_modules/.package-lock.json
	python -m tests.mutants $(FILES)

hosts: .venv/.dev bundle
	python tests/browser/chromium.py --install
	python -m tests.hosts.hosts
	ROOFWIDGET_HOSTS=all pytest tests/hosts

labels: .venv/.dev bundle
	python tests/browser/chromium.py --install
	python -m tests.hosts.hosts marimo
	ROOFWIDGET_HOSTS=all pytest -n 2 tests/browser/test_hostile_labels.py tests/hosts/test_hostile_labels.py

faults: .venv/.dev bundle
	python tests/browser/chromium.py --install
	ROOFWIDGET_FAULTS=all pytest -n 3 tests/faults

graders: .venv/.dev bundle
	python -m tests.teaching.test_executors
	ROOFWIDGET_GRADERS=all pytest tests/teaching/test_executors.py

fuzz: .venv/.dev bundle
	python -m tests.fuzz.run

# The notebooks themselves stay as they are: without outputs.
course: .venv/.dev bundle
	rm -rf build/notebooks course
	printf '%s\n' notebooks/*.ipynb | xargs -n 3 -P 2 \
	  jupyter nbconvert --to notebook --execute --ExecutePreprocessor.timeout=300 --output-dir build/notebooks
	python docs/make_glossary.py build/notebooks
	roofwidget page build/notebooks --out course --contents "Rooflines: a course"
	# Lessons without a translation stay English in it.
	roofwidget page build/notebooks --out course/de --contents "Rooflines: ein Kurs" --language de \
	  --translations notebooks/translations

docs: site

# Each warning of Sphinx is an error. At the end: the size of each page, bytes.
site: .venv/.docs course
	python tests/browser/chromium.py --install
	rm -rf build/docs build/doctrees
	python docs/make_site.py
	sphinx-build --quiet --fail-on-warning --keep-going -d build/doctrees -c docs build/site build/docs
	ROOFWIDGET_SITE=build/docs pytest -n 2 tests/docs/test_site.py
	cd build/docs && find . -name '*.html' | sort | xargs wc -c

# The versions in requirements.txt are those of the programs that write the site.
lite: build
	python tests/browser/chromium.py --install
	uv venv --quiet --clear --python .venv/bin/python .hosts/lite
	uv pip install --quiet --python .hosts/lite --requirement docs/lite/requirements.txt
	python docs/lite/make_lite.py dist/*.whl build/lite .hosts/lite/bin/jupyter
	ROOFWIDGET_LITE=build/lite pytest tests/docs/test_lite.py

build: .venv/.dev
	rm -rf dist
	python -m build
	cp roofwidget/static/roofwidget.mjs dist

# The versions that docs/packaging/Dockerfile installs.
lock: .venv/.dev
	uv pip compile --quiet --upgrade --universal --python-version 3.10 --no-header --no-annotate --extra demo \
	  --output-file docs/packaging/demo.lock pyproject.toml


api: .venv/.dev
	python -m tests.api

traits: .venv/.dev
	python js/make_traits.py

consumer: build
	uv venv --quiet --clear --python .venv/bin/python .hosts/consumer
	uv pip install --quiet --python .hosts/consumer dist/*.whl mypy==2.4.1 basedpyright==1.40.2
	cd tests/consumer && ../../.hosts/consumer/bin/mypy --config-file= --strict consumer.py
	cd tests/consumer && ../../.hosts/consumer/bin/basedpyright --pythonpath ../../.hosts/consumer/bin/python

release-check: build
	python tests/browser/chromium.py --install
	uv venv --quiet --clear --python .venv/bin/python .hosts/release
	uv pip install --quiet --python .hosts/release dist/*.whl jupyterlab
	python -m tests.release_check

# Frameworks and browsers stay out: tests/light.args names the tests that need one.
lowest: .venv/.dev bundle
	uv venv --quiet --clear --no-python-downloads --python "$(LOWEST_PYTHON)" .hosts/lowest
	HATCH_JUPYTER_BUILDER_SKIP_NPM=1 uv pip install --quiet --python .hosts/lowest --resolution lowest-direct \
	  --editable ".[unit]"
	.hosts/lowest/bin/python -m pytest -n 2 @tests/light.args

newest: .venv/.dev bundle
	for python in $(NEWEST_PYTHON); do \
	  uv venv --quiet --clear --no-python-downloads --python "$$python" .hosts/newest; \
	  HATCH_JUPYTER_BUILDER_SKIP_NPM=1 uv pip install --quiet --python .hosts/newest --upgrade --editable ".[unit]"; \
	  .hosts/newest/bin/python -m pytest -n 2 @tests/light.args; \
	done

# Neither the network nor .venv is needed: the machine's own Python has the frameworks.
gpu:
	$(PYTHON) -m tests.gpu

gpu-packages: .venv/.dev
	rm -rf .hosts/gpu
	uv pip install --quiet --no-deps --target .hosts/gpu --python-version $(GPU_PYTHON) --python-platform x86_64-manylinux_2_28 \
	  anywidget comm decorator ipython ipython-pygments-lexers ipywidgets matplotlib-inline prompt-toolkit \
	  psygnal pure-eval pygments stack-data asttokens executing traitlets typing-extensions wcwidth

bench: .venv/.peers bundle
	for script in benchmarks/*.py; do echo "== $$script"; python "$$script"; done

# Always built, as it takes a moment; it fails when the bundle is too large or reaches for the network.
bundle: js/node_modules/.package-lock.json
	npm --prefix js run build

clean:
	rm -rf build course dist roofwidget/static .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis test-results
	find roofwidget tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv .hosts js/node_modules

# The files named .demo, .dev, .docs and .peers record an installation; npm writes .package-lock.json itself.
# The build hook is told to leave npm alone: "bundle" runs it, where its messages can be seen.
define install
$(PYTHON) -c 'import sys; sys.exit("roofwidget needs Python 3.10 or newer" if sys.version_info < (3, 10) else 0)'
$(PYTHON) -m venv .venv
HATCH_JUPYTER_BUILDER_SKIP_NPM=1 python -m pip install --quiet --editable ".[$(1)]"
# Its question about news would lie over the notebook.
jupyter labextension disable --level=sys_prefix @jupyterlab/apputils-extension:announcements
touch $@
endef

.venv/.demo: pyproject.toml
	$(call install,demo)

# What the demo needs is part of it: one installation takes less time than two.
.venv/.dev: pyproject.toml
	$(call install,dev)
	touch .venv/.demo

.venv/.docs: .venv/.dev
	HATCH_JUPYTER_BUILDER_SKIP_NPM=1 python -m pip install --quiet --editable ".[docs]"
	touch $@

.venv/.peers: .venv/.dev
	HATCH_JUPYTER_BUILDER_SKIP_NPM=1 python -m pip install --quiet --editable ".[peers]"
	touch $@

js/node_modules/.package-lock.json: js/package.json js/package-lock.json | .venv/.demo
	npm --prefix js ci
	touch $@
