# Two commands are enough on a fresh Debian-like machine: `make demo` and `make test`.
CARGO ?= cargo

.PHONY: setup build test test-viewer bench-viewer demo bench lint fuzz-isa vsftpd null-programs lsp-neovim
setup:
	@scripts/setup

build: setup
	$(CARGO) build --release --package parallax

# The command, its library, completions and manual pages, where they work without this clone: make install PREFIX=~/.local
PREFIX ?= /usr/local
.PHONY: install
install: build
	scripts/install $(PREFIX)

# The same into a minimal Debian tree, where a user without this clone or a compiler runs commands. Needs root and debootstrap.
.PHONY: bare-install
bare-install: build
	scripts/bare-install

# Lints first: they fail fastest. Everything below shares one target folder and one profile.
test: setup lint
	$(CARGO) test --workspace --no-fail-fast
	$(MAKE) test-python
	$(MAKE) test-viewer

# The Python module: its wheel in a fresh environment, its stubs against what is in it, its types, its tests.
.PHONY: test-python
test-python: setup
	scripts/test-python

# The page: its types, whether the committed bundle is fresh, its model, and all of it in a real browser.
test-viewer: setup
	$(CARGO) build --package parallax
	cd viewer && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent; }
	cd viewer && npm test --silent

bench-viewer: build
	cd viewer && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent; }
	cd viewer && npm run bench --silent

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" $(CARGO) doc --quiet --workspace --no-deps
	$(CARGO) xtask check

demo: build
	@scripts/demo

bench: build bench-emulator
	$(CARGO) xtask bench

# The emulator beside Unicorn and QEMU; OUT=folder records the numbers there.
.PHONY: bench-emulator fuzz-blocks fuzz-loader programs
bench-emulator: setup
	$(CARGO) build --release --package parallax-process --example measure
	python3 bench/emulator/compare.py $(OUT)

# Mutated ELF files against the loader: make fuzz-loader ROUNDS=100000
fuzz-loader: setup
	FUZZ_ROUNDS=$(ROUNDS) $(CARGO) test --package parallax-process --lib mutated_images -- --nocapture

# Random blocks of instructions, run as blocks and one by one: make fuzz-blocks ROUNDS=100000 SEED=2
fuzz-blocks: setup
	FUZZ_ROUNDS=$(ROUNDS) FUZZ_SEED=$(SEED) $(CARGO) test --package parallax-process --test lockstep random_blocks -- --nocapture

# Every command line and every compiled program, the slow ones too.
programs: setup
	PARALLAX_ALL_PROGRAMS=1 $(CARGO) test --package parallax-process --test programs

# Functions that call, at every level on six processors: formulas against runs.
.PHONY: calls
calls: setup
	ALL_CALLS=1 $(CARGO) test --release --package parallax-code --test calls -- --nocapture

# Every program of the corpus recorded, and each replayed twenty times; fifty recorders killed.
.PHONY: record-corpus
record-corpus: setup
	PARALLAX_ALL_PROGRAMS=1 $(CARGO) test --package parallax-record --test corpus

# Recording, replaying, searching and seeking beside GDB, valgrind and qemu-user; OUT=folder records the numbers there.
.PHONY: bench-record
bench-record: setup
	$(CARGO) build --release --package parallax
	$(CARGO) build --release --package parallax-travel --example measure-travel
	python3 bench/record/compare.py $(OUT)

# Instruction semantics against the processor this runs on: make fuzz-isa SECONDS=600 SEED=1
SECONDS ?= 60
SEED ?= 1
fuzz-isa: setup
	$(CARGO) run --release --package parallax-silicon --bin fuzz-isa -- --seconds $(SECONDS) --seed $(SEED)

# Random functions over unknown memory against complete memories: make fuzz-memory FACTOR=20
fuzz-memory: setup
	RANDOM_MEMORY=$(FACTOR) $(CARGO) test --release --package parallax-cexplore --test random_memory --test large_arrays -- --nocapture
.PHONY: fuzz-memory
# Odd but valid C, generated and mutated, through load, run and explore: make fuzz-csmith SECONDS=3600 SEED=1
.PHONY: fuzz-csmith
fuzz-csmith: setup
	$(CARGO) run --release --package parallax-cexplore --example fuzz-csmith -- $(SECONDS) $(SEED)
# Mutated LLVM modules against the reader: make fuzz-bitcode ROUNDS=5000 SEED=2
.PHONY: fuzz-bitcode
fuzz-bitcode: setup
	FUZZ_ROUNDS=$(ROUNDS) FUZZ_SEED=$(SEED) $(CARGO) test --package parallax-cexplore --test hostile_modules mutated -- --nocapture

# Random and mutated bytes of every processor against the lifter: make fuzz-lifter SECONDS=600
.PHONY: fuzz-lifter
fuzz-lifter: setup
	$(CARGO) run --release --package parallax-silicon --bin fuzz-lifter -- --seconds $(SECONDS) --seed $(SEED)

# How long lifting takes, per new instruction: make bench-lifting FILES="/usr/bin/bash"
FILES ?= /usr/bin/bash
.PHONY: bench-lifting
bench-lifting: setup
	$(CARGO) run --release --package parallax-code --example lifting -- $(FILES)

# Mutated reports against every reader: make fuzz-report ROUNDS=5000
ROUNDS ?= 2000
.PHONY: fuzz-report
fuzz-report: setup
	FUZZ_ROUNDS=$(ROUNDS) $(CARGO) test --release --package parallax-report --test hostile mutated_reports

# More mutated class files and generated Java programs than the suite runs: make fuzz-class COUNT=20000
COUNT ?= 5000
.PHONY: fuzz-class
fuzz-class: setup
	CLASS_FUZZ=$(COUNT) JAVA_FUZZ=200 $(CARGO) test --release --package parallax-java --test malformed --test differential -- --nocapture

# More generated Javalite programs than the suite runs: make fuzz-heap FACTOR=20
FACTOR ?= 20
.PHONY: fuzz-heap
fuzz-heap: setup
	HEAP_FUZZ=$(FACTOR) $(CARGO) test --release --package parallax-javalite --test exactness --test concrete -- --nocapture

# Known mistakes planted into the rules of traces, one at a time: a test must die of each.
.PHONY: plant-trace
plant-trace: setup
	scripts/plant-trace $(if $(OUT),--out $(OUT))

# The same for recording, replaying and travelling. Takes a while: each mistake is built into a copy.
.PHONY: plant-record
plant-record: setup
	scripts/plant-record $(if $(OUT),--out $(OUT))

# The micro-benchmarks of section 4.4, plots and ratios: make bench-expositor OUT=folder; PROFILE=dev for a quick look.
PROFILE ?= release
RUNS ?= 5
.PHONY: bench-expositor
bench-expositor: setup
	scripts/bench-expositor $(OUT) $(PROFILE) $(RUNS)

# vsftpd from Debian's source: null errors by inference alone, and with each of the paper's blocks.
vsftpd: build
	@scripts/vsftpd

# redis and lighttpd from Debian's sources, by parallax check and by the analysers people use. Takes an hour or more.
null-programs: build
	@scripts/null-programs

# parallax lsp in a real editor: neovim opens a file, shows its diagnostics, and takes them back after a save.
lsp-neovim:
	@cargo build -q -p parallax
	@PARALLAX=target/debug/parallax scripts/lsp-neovim

# Real tools on real programs, what their reports hold and what comes out: make report-matrix WORK=/var/tmp/matrix OUT=folder
# gcc 14 and CBMC are unpacked from Debian 13, gcc 15 from Debian testing, and run in a chroot, which needs root; Semgrep and Flawfinder come from PyPI.
WORK ?= target/report-matrix
.PHONY: report-matrix
report-matrix: setup
	$(CARGO) build --package parallax
	mkdir -p $(WORK)
	python3 bench/report-matrix/unpack.py $(WORK)/trixie trixie gcc-14 g++-14 libc6-dev cbmc coreutils bash dash
	python3 bench/report-matrix/unpack.py $(WORK)/testing testing gcc-15 g++-15 libc6-dev coreutils bash dash
	[ -x $(WORK)/pypi/bin/semgrep ] || { python3 -m venv $(WORK)/pypi && $(WORK)/pypi/bin/pip install --quiet semgrep flawfinder; }
	python3 bench/report-matrix/run.py $(WORK) target/debug/parallax $(OUT)
	cd viewer && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent; }
	node viewer/bench/look.mjs $(WORK)

# Table 1 of the paper on the six programs of bench/stl: docs/binaries.md.
.PHONY: bench-stl
bench-stl: build
	scripts/stl-table target/release/parallax

# Symbolic runs of programs beside Triton and angr (PyPI, see scripts/concolic-peers; 600 MB): rates, bytes, targets.
.PHONY: bench-concolic
bench-concolic: build
	$(CARGO) build --release --package parallax-concolic --example measure-traces
	python3 -m pip install --quiet --target target/peers triton-library==1.0.0rc4 angr 'bitstring<5' 'pycparser==3.0'
	PYTHONPATH=target/peers scripts/concolic-peers target/release/parallax target/release/examples/measure-traces concolic.csv

# What `convert` and the verbs write as SARIF, held against the public validator (npm, 100 MB, pinned): no errors.
.PHONY: sarif-check
sarif-check: setup
	$(CARGO) build --package parallax
	scripts/sarif-validator target/debug/parallax

# Programs that take, compare, store and return addresses, in every reading: make fuzz-addresses COUNT=10000 FIRST=0
FIRST ?= 0
.PHONY: fuzz-addresses
fuzz-addresses: setup
	ADDRESS_PROGRAMS=$(COUNT) ADDRESS_FIRST=$(FIRST) $(CARGO) test --release --package parallax-primitives --test addresses addresses_mean -- --nocapture

# More random C programs with null errors than the suite checks, 60 for each seed; none may be lost: make fuzz-null SEEDS=50
SEEDS ?= 50
.PHONY: fuzz-null
fuzz-null: setup
	NULL_SEEDS=$(SEEDS) $(CARGO) test --release --package parallax-mixy --test truth no_null_error -- --nocapture

# More generated MIX programs than the suite checks and runs: make fuzz-mix COUNT=100000
.PHONY: fuzz-mix
fuzz-mix: setup
	MIX_PROGRAMS=$(COUNT) $(CARGO) test --release --package parallax-mix --test soundness accepted -- --nocapture

# Ten C libraries from Debian's sources, explored by harness and by function: make c-libraries OUT=folder
.PHONY: c-libraries
c-libraries: build
	@scripts/c-libraries $(OUT)
