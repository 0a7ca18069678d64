# MMAU. `make cosim` and `make test` are all a newcomer needs; both set everything up in .venv first.
.DEFAULT_GOAL := help
.PHONY: help cosim coverage verilog test test-fast test-long kernels lint format types peer vectors bench bench-cosim bench-explore \
  analysis analysis-discrepancy analysis-bounds analysis-risks analysis-bias analysis-monotonicity analysis-symmetry \
  analysis-mitigation campaign-cosim campaign-native stimulus-mutants mutants formal formal-main coverage-table area cost ratchet probing papers \
  profiles answers-fp8 answers-round-down answers-encodings \
  clean tools

# The commands and tests start hundreds of Python processes, each of which would compile all sources anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
VECTORS ?= 20000
JOBS ?= 2
MINUTES ?=
WHOLE ?=

help:  ## This list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

cosim: $(VENV)/.cosim  ## The main job: co-simulate the generated datapaths against the golden models
	$(BIN)/mmau cosim --vectors $(VECTORS)

coverage: $(VENV)/.cosim  ## Co-simulate every parameter set and every way to build, over 1,000,000 vectors an operation
	$(BIN)/mmau cosim --coverage --mode volume --vectors 170000

verilog: $(VENV)/.cosim  ## Verilog of every distinct datapath of the catalogue, and of tiles, into build/verilog, linted
	$(BIN)/python -m rtl.verilog.lint build/verilog

test: $(VENV)/.dev  ## All tests but for volume: a few minutes
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not peer and not kernels and not long"

test-fast: $(VENV)/.dev  ## The quick tests: no simulation in Verilator, no long random searches, nothing that compiles
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not peer and not kernels and not long and not slow and not simulator"

test-long: $(VENV)/.dev  ## The volume that `make test` leaves out
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m long

peer: $(VENV)/.peer  ## The tests that run the public MMA-Sim package beside the models (downloads PyTorch)
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m peer

vectors: $(VENV)/.peer  ## Fresh vectors computed by MMA-Sim, made as those of tests/data, into build/vectors.npz
	@mkdir -p build
	$(BIN)/python -m tests.data.remake_vectors build/vectors.npz

bench: $(VENV)/.peer  ## The native engine's speed beside MMA-Sim's, into build/bench.json
	@mkdir -p build
	$(BIN)/python -m benchmarks.native build/bench.json

campaign-cosim: $(VENV)/.cosim  ## 10^8 vectors of every operation in volume mode, docs/campaign-cosim.md; goes on where it was interrupted
	$(BIN)/python -m cosim.campaign cosim/campaign/outcome.json docs/campaign-cosim.md build/campaign-cosim

bench-cosim: $(VENV)/.cosim  ## Co-simulation's speed beside the same simulator with nothing to do, and time to the first vector
	$(BIN)/python -m cosim.speed

bench-explore: $(VENV)/.dev  ## How long design spaces of 200 points take, from samples; WHOLE=1 times all points
	$(BIN)/python -m explore.speed $(if $(WHOLE),--whole)

campaign-native: $(VENV)/.dev  ## The native engine against the reference on 10^8 rows; goes on where it was interrupted
	$(BIN)/python -m benchmarks.campaign_native docs/campaign-native.json build/campaign-native

stimulus-mutants: $(VENV)/.dev  ## How many rows of the stimulus at volume each mutant of a model needs, docs/stimulus-mutants.md
	@mkdir -p build
	$(BIN)/python -m benchmarks.stimulus_mutants docs/stimulus-mutants.md build/stimulus-mutants

kernels: $(VENV)/.kernels $(VENV)/.nvrtc-oldest  ## Compile every GPU kernel, CUDA's with two compilers, and check what it became (no GPU needed)
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "cuda_compiler or amd_compiler"
	MMAU_NVRTC=$(VENV)/nvrtc-oldest/nvidia/cu13/lib $(BIN)/pytest -n $(JOBS) --dist worksteal -m cuda_compiler

area: $(VENV)/.area  ## The table of costs, docs/area.md: most of an hour, resumable; MINUTES=30 stops early
	$(BIN)/python -m rtl.cost.table docs build/area --jobs $(JOBS) $(if $(MINUTES),--minutes $(MINUTES))

cost: $(VENV)/.dev  ## Published ratios beside ours, docs/explore/cost.md (needs Debian's opensta and qflow-tech-osu018)
	$(BIN)/python -m explore.cost.published docs/explore/cost.json build/cost

ratchet: $(VENV)/.area  ## A small set of units against their committed cells
	$(BIN)/python -m rtl.cost.ratchet

mutants: $(VENV)/.mutation  ## The mutants of every operation, docs/mutants.md: some ten minutes, resumable
	$(BIN)/python -m cosim.mutation.campaign docs --jobs $(JOBS)

formal: $(VENV)/.dev  ## Proofs of every distinct datapath in every encoding, ways to build, pipelines, docs/proofs.md: half an hour, resumable
	$(BIN)/python -m formal.campaign formal/proofs.json docs/proofs.md --jobs $(JOBS)

formal-main: $(VENV)/.dev  ## Proofs of the main job's units, as they are built, into build/formal-main
	$(BIN)/python -m formal.campaign build/formal-main/proofs.json build/formal-main/proofs.md --main-job --jobs $(JOBS)

coverage-table: $(VENV)/.cosim  ## The page of functional coverage, docs/coverage.md
	$(BIN)/python -m cosim.runner.coverage_table docs/coverage.md

probing: $(VENV)/.dev  ## The probe on the catalogue and 1,000 random units, docs/probing-sweep.md: an hour or two, resumable; MINUTES=30 stops early
	$(BIN)/python -m probe.sweep docs/probing.json $(if $(MINUTES),--minutes $(MINUTES))
	$(BIN)/python -m probe.sweep_page docs/probing.json docs/probing-sweep.md

papers: $(VENV)/.dev  ## The papers' own tests, their values beside the models', docs/papers.md
	$(BIN)/python -m probe.papers.page docs/papers.md

profiles: $(VENV)/.dev  ## The numeric profiles of every architecture's model, docs/profiles
	$(BIN)/python -m benchmarks.profiles docs/profiles

answers-fp8: $(VENV)/.peer  ## How many fraction bits FP8 training needs, docs/explore/fp8-accumulation.md: half an hour, resumable
	@mkdir -p build
	$(BIN)/python -m explore.answers.fp8_training examples/spaces/fp8-accumulation.toml docs/explore build/answers-fp8

analysis-discrepancy: $(VENV)/.dev  ## One input on every unit: table 8 of paper 000, docs/analysis/discrepancy.md
	$(BIN)/python -m analysis discrepancy docs/analysis

analysis-bounds: $(VENV)/.dev  ## Error bounds against the stimulus and a search: table 9, a few minutes
	$(BIN)/python -m analysis bounds docs/analysis

analysis-risks: $(VENV)/.dev  ## Risky designs, from parameters: table 10
	$(BIN)/python -m analysis risks docs/analysis

analysis-bias: $(VENV)/.dev  ## CDNA3's bias: figure 3
	$(BIN)/python -m analysis bias docs/analysis

analysis-monotonicity: $(VENV)/.dev  ## Units that are not monotonic, and the smallest input that shows it
	$(BIN)/python -m analysis monotonicity docs/analysis

analysis-symmetry: $(VENV)/.dev  ## Units that are not symmetric, and the smallest input that shows it
	$(BIN)/python -m analysis symmetry docs/analysis

analysis-mitigation: $(VENV)/.dev  ## What helps against the risky designs, measured: section 6.3
	$(BIN)/python -m analysis mitigation docs/analysis

analysis: analysis-discrepancy analysis-bounds analysis-risks analysis-bias analysis-monotonicity analysis-symmetry analysis-mitigation  ## All pages of docs/analysis

answers-round-down: $(VENV)/.dev  ## What CDNA3's rounding down costs in bias and saves in area, docs/explore/round-down.md
	$(BIN)/mmau explore examples/spaces/round-down.toml --out build/explore/round-down --jobs $(JOBS)
	$(BIN)/python -m explore.answers round-down build/explore/round-down docs/explore

answers-encodings: $(VENV)/.dev  ## Sign and magnitude or complements, cut or sticky, docs/explore/encodings.md
	$(BIN)/mmau explore examples/spaces/encodings.toml --out build/explore/encodings --jobs $(JOBS)
	$(BIN)/python -m explore.answers encodings build/explore/encodings docs/explore

lint: $(VENV)/.dev  ## Formatting and lint rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev  ## Type checks
	$(BIN)/mypy

format: $(VENV)/.dev  ## Format the sources in place
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## Remove the virtual environment and everything that was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

# What must be on the machine; everything else is installed into .venv.
tools:
	@test $(words $(CURDIR)) -eq 1 || \
	  { echo "make: the project must not lie under a path with spaces, which make cannot handle: $(CURDIR)" >&2; exit 2; }
	@for tool in $(PYTHON) g++ perl; do \
	  command -v $$tool >/dev/null || { echo "make: $$tool is needed and was not found: install it and run make again" >&2; exit 2; }; \
	done
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: Python 3.11 or later is needed, $(PYTHON) is $$($(PYTHON) -V 2>&1): set PYTHON=python3.xx" >&2; exit 2; }

# The installation builds the native library, so that it is made anew when its sources have changed.
NATIVE := $(shell find golden/native -name '*.[ch]pp' -o -name '*.h' -o -name '*.inc' -o -name CMakeLists.txt)

$(VENV)/.area $(VENV)/.cosim $(VENV)/.dev $(VENV)/.kernels $(VENV)/.mutation $(VENV)/.peer: pyproject.toml constraints.txt $(NATIVE) | tools
	@echo "setting up $(VENV) ($(subst .,,$(notdir $@)) packages; a minute or two the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$(EXTRA_$(subst .,,$(notdir $@)))]'
	@touch $@

$(VENV)/.nvrtc-oldest: constraints-oldest.txt | $(VENV)/.kernels
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VENV)/nvrtc-oldest -r $<
	@touch $@

EXTRA_area := area
EXTRA_cosim := cosim
EXTRA_dev := dev
EXTRA_kernels := dev,nvidia,amd,rocm
EXTRA_mutation := mutation
EXTRA_peer := dev,peer
