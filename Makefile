# Everything happens in a virtual environment of its own, .venv.
#   make demo     set up, then align every pair of a small real set
#   make test     set up, then run the tests, less those that are slow, on a quarter of cases and examples
#   make test-all all tests, as CI does
#   make check    formatting, lint, types, which module imports which, words, licences, CITATION.cff
#   make build    the native library, after a change in cpu/: compiles what changed
#   make debug    the same without optimization, for gdb; the next make build has the other back
#   make man      the manual page, build/man/pairalign.1; pip install . takes it along
#   make cuda     compile the GPU kernels ahead (otherwise they are compiled at first use); CUDA_OPTIONS="--for 90"
#   make sanitize the tests of engine, readers and text with the native library under sanitizers of
#                 addresses and undefined behaviour; its kernels for one instruction set, or
#                 SANITIZE_OPTIONS="--sets all"; SANITIZE_OPTIONS=--races: under that of threads
#   make neon     the NEON kernels under qemu-user, against this machine's; needs g++ for aarch64 too
#   make docs     the documentation as a site, in build/site
#   make wheel    sdist and wheel for any Linux with glibc 2.17, in dist/; WHEEL_OPTIONS="--machine aarch64"
#   make test-gpu the tests that need a GPU
#   make bench DATA=proteins.fasta    measure against other programs

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NATIVE := setup.py $(wildcard cpu/*.h cpu/*.cpp cpu/*/*.cpp cpu/*/*.h common/*.h)
NATIVE_SOURCES = $(shell find common cpu cuda opencl tests/cuda_on_host tests/native -name '*.h' -o -name '*.cpp' -o -name '*.c[ul]*')
# All cores; a file's tests stay together, since they share what they set up, and files begin in
# their order, those that take longest first (tests/support/left_out.py).
PYTEST := $(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder
PYTEST_OPTIONS ?=
# setuptools warns of an editable installation as such; nobody can act on it.
QUIETER := ignore:Editable installation

NATIVE_BUILD := $(BIN)/python setup.py -q build_ext --inplace

.PHONY: demo test test-all check format build debug man docs cuda sanitize neon wheel test-gpu bench clean

demo: $(VENV)/.ready
	@mkdir -p demo
	@$(BIN)/pairalign align examples/cytochrome_p450.fasta -o demo/cytochrome_p450.paf
	@$(BIN)/pairalign align examples/cytochrome_p450.fasta -o demo/cytochrome_p450.srspair --quiet
	@echo "Also as EMBOSS pairs, to read: demo/cytochrome_p450.srspair"

test: build $(VENV)/.ready-test
	@echo "Running the tests on all cores: two to five minutes on two idle ones, less on more"
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-few} $(PYTEST) -m "not slow" $(PYTEST_OPTIONS)

test-all: build $(VENV)/.ready-test
	$(PYTEST) $(PYTEST_OPTIONS)

check: build $(VENV)/.ready-check
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(NATIVE_SOURCES)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/check_private.py
	$(BIN)/python scripts/check_includes.py
	$(BIN)/python scripts/check_lengths.py
	$(BIN)/python scripts/check_words.py
	$(BIN)/python scripts/check_ties.py
	$(BIN)/reuse lint --quiet
	$(BIN)/cffconvert --validate -i CITATION.cff

format: $(VENV)/.ready-check
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE_SOURCES)
	$(BIN)/ruff check --fix .

build: $(VENV)/.ready

debug: $(VENV)/.packages
	PAIRALIGN_FLAGS="-O0 -g3 -UNDEBUG" $(NATIVE_BUILD)
	@touch -d @0 $(VENV)/.ready

man: build $(VENV)/.ready-man
	@mkdir -p build/man
	$(BIN)/argparse-manpage --module pairalign.cli.program --function build_parser --prog pairalign \
	  --project-name pairalign --manual-title pairalign \
	  --description "exact alignment of every pair in a set of sequences" --output build/man/pairalign.1

cuda: $(VENV)/.ready
	$(BIN)/python -m pairalign.engines.cuda.build_ahead $(CUDA_OPTIONS)

sanitize: build $(VENV)/.ready-test
	$(BIN)/python scripts/sanitize.py $(SANITIZE_OPTIONS)

neon: $(VENV)/.ready
	$(BIN)/python scripts/check_neon.py

docs: build $(VENV)/.ready-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

wheel: $(VENV)/.ready-wheel
	$(BIN)/python scripts/build_wheel.py $(WHEEL_OPTIONS)

test-gpu: build $(VENV)/.ready-gpu
	$(BIN)/python -m pytest -m gpu $(PYTEST_OPTIONS)

bench: build $(VENV)/.ready-bench
	$(BIN)/python scripts/benchmark.py cpu --data $(DATA)

$(BIN)/pip: scripts/make_venv.py
	@echo "Setting up $(VENV): fetching packages, compiling the native library; a minute or two, once"
	@$(PYTHON) scripts/make_venv.py $(VENV)
	@touch $@

$(VENV)/.packages: $(BIN)/pip setup.cfg pyproject.toml
	@echo "Compiling the native library and installing pairalign into $(VENV)"
	@$(BIN)/python scripts/install_extra.py build
	@$(NATIVE_BUILD) & native=$$!; $(BIN)/python scripts/install_extra.py --wheels all; code=$$?; \
	  wait $$native && exit $$code
	@PYTHONWARNINGS="$(QUIETER)" $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --editable .
	@touch $@

# A library of other instruction sets than these is no newer file.
ifneq ($(PAIRALIGN_BUILD_SETS),)
ifneq ($(PAIRALIGN_BUILD_SETS),$(shell cat $(VENV)/.sets 2>/dev/null))
.PHONY: other-sets
$(VENV)/.ready: other-sets
endif
endif

$(VENV)/.ready: $(VENV)/.packages $(NATIVE)
	@$(NATIVE_BUILD)
	@echo "$(PAIRALIGN_BUILD_SETS)" >$(VENV)/.sets
	@touch $@

$(VENV)/.ready-test: $(VENV)/.packages
	@echo "Installing what the tests need"
	@$(BIN)/python scripts/install_extra.py --wheels test
	@touch $@

$(VENV)/.ready-check $(VENV)/.ready-gpu: $(VENV)/.ready-test

$(VENV)/.ready-%: $(VENV)/.packages
	@echo "Installing the extra $*"
	@$(BIN)/python scripts/install_extra.py $*
	@touch $@

clean:
	rm -rf build demo *.egg-info pairalign/_native.so pairalign/cuda_kernels
