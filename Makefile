# MMAU. `make cosim` and `make test` are all a newcomer needs; both set everything up in .venv first.
.DEFAULT_GOAL := help
.PHONY: $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

# The commands and tests start hundreds of Python processes, each of which would compile all sources anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
VECTORS ?= 20000
JOBS ?= 2
MINUTES ?=
SLICE ?=
SEED ?= 23
ARCH ?= x86-avx512
USUAL := not peer and not site and not kernels and not long and not campaign
PYTHONS ?= python3.11 python3.12 python3.13 python3.14


# `## job:` explains a target that a newcomer or a contributor needs, `#:` one of all others.
help:
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {n = index($$2, ": "); job = substr($$2, 1, n - 1); \
	  text[job] = text[job] sprintf("  make %-11s %s\n", $$1, substr($$2, n + 2))} \
	  END {n = split("verify design measure project", jobs, " "); for (k = 1; k <= n; k++) printf "%s\n%s", jobs[k], text[jobs[k]]}' $(MAKEFILE_LIST)

help-all:  ## project: List every target, those that write docs/evidence among them
	@awk -F ':.*#[#:] ' '/^[a-z0-9-]+:.*#[#:] / {sub(/^(verify|design|measure|project): /, "", $$2); printf "  make %-22s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

cosim: $(VENV)/.cosim  ## verify: Co-simulate the main generated datapaths with the golden models
	$(BIN)/mmau cosim --vectors $(VECTORS)

coverage: $(VENV)/.cosim  ## verify: Co-simulate every parameter set and option, 1,000,000 vectors an operation; SLICE=0/3 runs a third
	$(BIN)/mmau cosim --coverage --mode volume --vectors 170000 $(if $(SLICE),--slice $(SLICE))

verilog: $(VENV)/.cosim  ## design: Write the Verilog of every distinct datapath to build/verilog, and lint it; SLICE=0/3 does a third
	$(BIN)/python -m rtl.verilog.lint build/verilog $(if $(SLICE),--slice $(SLICE))

test: $(VENV)/.dev  ## project: Run the tests for every change, a few minutes: all quick ones, one case of each slow one, a few simulations
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not merge and $(USUAL)"

test-all: $(VENV)/.dev  ## project: Run the tests for every merge: proofs, wrong designs and simulations too; the rest is volume, peers, campaigns
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "$(USUAL)" --durations=25 --durations-min=5

test-merge: $(VENV)/.dev  #: Run what `make test` left out of `make test-all`, and again what optional tools change; SLICE=0/2 runs a half
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "(merge or needs or uses) and $(USUAL)" $(if $(SLICE),--slice $(SLICE)) --durations=25 --durations-min=5

test-fast: $(VENV)/.dev  #: Run the quick tests: nothing that compiles, simulates or searches long
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not slow and not simulator and $(USUAL)"

test-tools: $(VENV)/.dev  #: Run the tests that need or use optional tools (Icarus, OpenSTA, QEMU, Chromium …), where these are installed
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "(needs or uses) and $(USUAL)"

test-long: $(VENV)/.dev  #: Run the tests of volume, which `make test-all` leaves out; SLICE=0/3 runs the first third
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "long and not site and not peer" $(if $(SLICE),--slice $(SLICE))

attack: $(VENV)/.dev  ## project: Try every broken design, proof and record that should be caught; SEED=N draws other faults, SLICE=0/24 tries a part
	MMAU_ATTACK_SEED=$(SEED) $(BIN)/pytest -n $(JOBS) --dist worksteal -p tests.attack.score -m "attack and not peer" $(if $(SLICE),--slice $(SLICE))

peer: $(VENV)/.peer  #: Run the public MMA-Sim package beside the models (downloads PyTorch)
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m peer

vectors: $(VENV)/.peer  #: Write fresh vectors computed by MMA-Sim, as those of tests/data, to build/vectors
	@mkdir -p build
	$(BIN)/python -m tests.data.remake_vectors build/vectors

campaign-cosim: $(VENV)/.cosim  #: Co-simulate 10^8 vectors of every operation in volume mode; writes docs/evidence/campaign-cosim.md; resumes
	$(BIN)/python -m studies.cosim_campaign mmau/prove/simulations.json docs/evidence/campaign-cosim.md build/campaign-cosim

own-units: $(VENV)/.dev  #: Check the units of examples/units: rows beside exact rationals, Verilog, proofs, costs, wrong designs; writes docs/evidence/own-units.md; hours; resumes
	@mkdir -p build
	$(BIN)/python -m studies.own_units docs/evidence/own-units.md build/own-units --jobs $(JOBS) $(if $(MINUTES),--minutes $(MINUTES))

golden-mutants: $(VENV)/.dev  #: Change every rule of golden's reference and see who notices; writes docs/evidence/golden-mutants.md; resumes
	@mkdir -p build
	$(BIN)/python -m studies.golden_mutants docs/evidence/golden-mutants.md build/golden-mutants

conform: $(VENV)/.cosim  ## measure: Compare the models with this processor's AVX-512, or with ARCH=x86-amx, sm_90 …
	@mkdir -p build && rm -f build/conform.json
	$(BIN)/mmau conform --arch $(ARCH) --report build/conform.json

kernels: $(VENV)/.kernels $(VENV)/.nvrtc-oldest  ## measure: Compile every GPU kernel, without a GPU, and check its instructions; SLICE=0/3 compiles a third
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "cuda_compiler or amd_compiler" $(if $(SLICE),--slice $(SLICE))
	MMAU_NVRTC=$(VENV)/nvrtc-oldest/nvidia/cu13/lib $(BIN)/pytest -n $(JOBS) --dist worksteal -m "cuda_compiler and not kernels"

kernels-oldest: $(VENV)/.kernels $(VENV)/.nvrtc-oldest  #: Compile every CUDA kernel with the oldest compiler too, of which `make kernels` compiles a sample
	MMAU_NVRTC=$(VENV)/nvrtc-oldest/nvidia/cu13/lib $(BIN)/pytest -n $(JOBS) --dist worksteal -m "cuda_compiler and kernels"

area: $(VENV)/.area  #: Measure the cells and depth of the datapaths; writes docs/evidence/area.md; most of an hour; resumes; MINUTES=30 stops early
	$(BIN)/python -m studies.area docs/evidence build/area --jobs $(JOBS) $(if $(MINUTES),--minutes $(MINUTES))

freeze-compare: $(VENV)/.dev  #: Compare attacks, the command line, what it prints, designs and mutants with what is frozen in tests/freeze; SLICE=0/60 takes a part of the designs
	$(BIN)/python -m tests.freeze compare $(if $(SLICE),--slice $(SLICE))

ratchet: $(VENV)/.area  ## design: Compare the cells of a small set of units with the committed figures
	$(BIN)/python -m studies.area.ratchet

mutants: $(VENV)/.mutation  #: Run the mutants of every operation; writes docs/evidence/mutants.md; some ten minutes; resumes
	$(BIN)/python -m studies.mutants docs/evidence --jobs $(JOBS)

formal: $(VENV)/.dev  #: Prove every distinct datapath in every encoding, implementation options, pipelines; writes docs/evidence/proofs.md; half an hour; resumes
	$(BIN)/python -m studies.proofs mmau/prove/proofs.json docs/evidence/proofs.md --jobs $(JOBS)

formal-missing: $(VENV)/.dev  #: Prove the designs of `make formal` that its outcome lacks, and add them to it; resumes
	$(BIN)/python -m studies.proofs mmau/prove/proofs.json docs/evidence/proofs.md --missing --jobs $(JOBS)

formal-main: $(VENV)/.dev  ## verify: Prove the units of `make cosim`, and check that their recorded proofs stand
	$(BIN)/python -m studies.proofs build/formal-main/proofs.json build/formal-main/proofs.md --main-job --jobs $(JOBS)
	$(BIN)/python -m studies.proofs.compare mmau/prove/proofs.json --main-job --jobs $(JOBS)

formal-golden: $(VENV)/.dev  #: Prove that specifications are golden's own step, on symbolic integers; writes docs/evidence/specifications.md; 25 s of the CPU for an operation; resumes
	@mkdir -p build
	$(BIN)/python -m studies.specification_proofs docs/evidence/specifications.md build/formal-golden

formal-compare: $(VENV)/.dev  #: Check that the recorded proofs stand: make their Verilog, specifications and questions again, without a solver
	$(BIN)/python -m studies.proofs.compare mmau/prove/proofs.json --jobs $(JOBS)

formal-second: $(VENV)/.dev  #: Put every question of `make formal` to a second, unrelated solver; adds to the recorded proofs and docs/evidence/proofs.md; resumes
	$(BIN)/python -m studies.proofs.second mmau/prove/proofs.json docs/evidence/proofs.md --jobs $(JOBS)

formal-second-main: $(VENV)/.dev  #: Likewise for the units of `make cosim` alone
	$(BIN)/python -m studies.proofs.second mmau/prove/proofs.json docs/evidence/proofs.md --main-job --jobs $(JOBS)

formal-registers: $(VENV)/.dev  #: Prove every distinct datapath of the catalogue with 1, 3 and 8 stages equal to the one without; writes docs/evidence/registers.md; resumes
	$(BIN)/python -m studies.proofs.registers docs/evidence/registers.md --jobs $(JOBS)

formal-netlist: $(VENV)/.cosim  #: Prove that synthesised netlists of the units of `make cosim` equal their Verilog; writes docs/evidence/netlists.md; resumes
	@mkdir -p build
	$(BIN)/python -m studies.proofs.netlists docs/evidence/netlists.md build/formal-netlist --jobs $(JOBS)

coverage-table: $(VENV)/.cosim  #: Write the page of functional coverage, docs/evidence/coverage.md
	$(BIN)/python -m studies.coverage_table docs/evidence/coverage.md

gemm-speed: $(VENV)/.dev  ## measure: Compare the speed of golden.gemm with PyTorch's fp32 on this machine; SIZE=4096 takes minutes
	$(BIN)/python -m studies.gemm_speed $(SIZE)

recordings: $(VENV)/.dev  #: Replay every recorded row and change every key; writes docs/evidence/recordings.md
	$(BIN)/python -m studies.recorded_evidence docs/evidence/recordings.md

library-products: $(VENV)/.dev  #: Find the orders of golden.gemm that give the recorded products of cuBLAS and Triton; writes docs/evidence/library-products.md
	$(BIN)/python -m studies.library_products.found_orders studies/library_products/h100.npz docs/evidence/library-products.json
	$(BIN)/python -m studies.library_products.products_page docs/evidence/library-products.json docs/evidence/library-products.md

docs: $(VENV)/.site  ## project: Build the documentation site and the instruction explorer into build/site
	$(BIN)/python -m studies.site build/site

docs-serve: docs  #: Show the site at localhost, port 8000
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8000

test-site: $(VENV)/.site  #: Run the tests of the site and of the explorer; those in a browser need Debian's chromium
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m site

release: $(VENV)/.release  #: Build the source archive, the wheels, the bill of materials and the recordings' archive, twice, into dist; try the wheel
	$(BIN)/python -m studies.release dist
	@wheel=$$(echo dist/mmau-*-py3-none-manylinux_*_$$(uname -m).whl); \
	for python in $(PYTHONS); do \
	  if $$python -c '' 2>/dev/null; then PYTHON=$$python MMAU_WHEEL=$$wheel .ci/wheel || exit; \
	  else echo "$$python is not on this machine: the wheel was not tried there"; fi; \
	done; \
	MMAU_WHEEL=$$wheel $(BIN)/pytest tests/docs/test_first_mismatch.py

lint: $(VENV)/.dev  ## project: Check formatting, lint rules and imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo

types: $(VENV)/.dev  ## project: Check types
	$(BIN)/mypy

format: $(VENV)/.dev  #: Format the sources in place
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## project: Remove the virtual environment and everything that was built
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

$(VENV)/.area $(VENV)/.cosim $(VENV)/.dev $(VENV)/.kernels $(VENV)/.mutation $(VENV)/.peer $(VENV)/.release $(VENV)/.site: pyproject.toml constraints.txt $(NATIVE) | tools
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
EXTRA_release := dev,release
EXTRA_site := dev,site
