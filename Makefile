# Two commands are enough on a fresh Debian-like machine: `make demo` and `make test`. `make help` lists the others.
CARGO ?= cargo
PREFIX ?= /usr/local
.PHONY: help demo build install packages book setup test check bench fuzz peers clean

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make demo      installs what is missing, builds the command and its Python module, runs them on bundled examples
demo: build
	@scripts/demo

## make build     target/release/parallax, with the Python module beside it
build:
	@scripts/setup
	$(CARGO) build --release --package parallax --package parallax-python
	@scripts/python-module folder target/release/lib_native.so target/release/python

## make install   the command, its module, completions and manual pages under PREFIX (/usr/local), usable without this clone
install: build
	scripts/install $(PREFIX)

## make packages  a tarball, a Debian package with its debug symbols beside, and a wheel, in target/packages
packages: build
	scripts/packages

## make book      README.md and docs/ as one book in target/book/html, searchable without a network
book:
	@scripts/book

## make setup     installs what the tests use besides
setup:
	@scripts/setup tests

## make test      every test: of the crates, of the Python module, of the pages
test: setup
	$(CARGO) xtask test

## make check     formatting, lints, documentation, and the repository's own rules
check: setup
	$(CARGO) fmt --all --check
	$(CARGO) xtask check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" $(CARGO) doc --quiet --workspace --no-deps

## make bench     measures, and records under bench/runs; WHAT="c" for one
bench: build
	$(CARGO) xtask bench $(WHAT)

## make fuzz      what the tests take a slice of, for longer: WHAT="isa SECONDS_OF_RUN=600"; alone it lists what there is
fuzz: setup
	$(CARGO) xtask fuzz $(WHAT)

## make peers     beside other tools and on other people's programs: WHAT="record OUT=folder"; alone it lists what there is
peers: setup
	$(CARGO) xtask peers $(WHAT)

## make clean     removes what was built
clean:
	$(CARGO) clean
