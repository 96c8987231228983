# `make help` lists what there is. Everything installs what it needs by itself; a second run works offline.

SWIFT ?= swift
# What tests and measurements build is more than what is installed: see Package.swift. One variable for all of them, so that
# none builds again what another has built.
DEVELOP = BINNACLE_DEVELOPMENT=1 $(SWIFT)
SPEED ?= max
BINARY = .build/release/binnacle
# Where `make install` puts things; a package sets PREFIX=/usr and DESTDIR. systemd and udev look into /usr/local/lib, too.
# Paths may have blanks: each stands in quotes, where a shell reads it.
PREFIX ?= $(or $(prefix),/usr/local)
DESTDIR ?=
REPOSITORY ?= .build/repository
bindir ?= $(PREFIX)/bin
SETTINGS = $(DESTDIR)/etc/binnacle
CONFIGURATION = $(SETTINGS)/binnacle.toml
# The configuration as it was installed: one that equals it was not changed. A package has no need of it.
PRISTINE ?= $(if $(DESTDIR),,$(PREFIX)/share/binnacle/binnacle.toml)
RULES = $(DESTDIR)$(PREFIX)/lib/udev/rules.d/70-binnacle.rules
SYSUSERS = $(DESTDIR)$(PREFIX)/lib/sysusers.d/binnacle.conf
UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/system
# The system bus reads no folder in /usr/local, and polkit its actions in /usr alone.
BUS_POLICY ?= $(DESTDIR)$(if $(filter /usr,$(PREFIX)),/usr/share,/etc)/dbus-1/system.d/binnacle.conf
POLKIT = $(DESTDIR)/usr/share/polkit-1
POLKIT_ACTION ?= $(POLKIT)/actions/org.binnacle.Binnacle1.policy
POLKIT_RULES ?= $(POLKIT)/rules.d/binnacle.rules
USER_UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/user
DOCUMENTS = $(DESTDIR)$(PREFIX)/share/doc/binnacle
MANUAL = $(DESTDIR)$(PREFIX)/share/man
BASH_COMPLETION = $(DESTDIR)$(PREFIX)/share/bash-completion/completions/binnacle
ZSH_COMPLETION = $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_binnacle
FISH_COMPLETION = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/binnacle.fish
EXAMPLES = $(wildcard config/examples/*.toml config/examples/*.yml config/examples/*.json) config/examples/rotate-screen \
    systemd/binnacle-network.conf systemd/binnacle-desktop.conf
# What `make install` puts there and `make uninstall` removes: each file of the project, and its place. The program and its
# configuration are not among them.
INSTALLED = \
    $(foreach page,$(wildcard man/*),$(page)='$(MANUAL)/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page))') \
    completions/binnacle.bash='$(BASH_COMPLETION)' \
    completions/_binnacle='$(ZSH_COMPLETION)' \
    completions/binnacle.fish='$(FISH_COMPLETION)' \
    systemd/70-binnacle.rules='$(RULES)' \
    systemd/binnacle.sysusers='$(SYSUSERS)' \
    systemd/binnacle-bus.conf='$(BUS_POLICY)' \
    systemd/org.binnacle.Binnacle1.policy='$(POLKIT_ACTION)' \
    systemd/binnacle-polkit.rules='$(POLKIT_RULES)' \
    $(foreach unit,binnacle.service binnacle-trigger.service binnacle-metrics.socket binnacle-metrics@.service \
        binnacle-web.socket binnacle-web@.service binnacle-serve.socket binnacle-serve@.service,systemd/$(unit)='$(UNITS)/$(unit)') \
    systemd/binnacle-notify.service='$(USER_UNITS)/binnacle-notify.service' \
    $(foreach example,$(EXAMPLES),$(example)='$(DOCUMENTS)/examples/$(notdir $(example))')
FUZZ_SECONDS ?= 600
FUZZ_CASES ?= 1000000
BENCH_SECONDS ?= 60
# The program of the release before, whose start and memory are shown beside this one's: the installed one, if there is one.
BEFORE ?= $(wildcard /usr/bin/binnacle /usr/local/bin/binnacle)
KERNEL_CASES ?= 200
# What `make test` runs, in this order, as far as it is built: what waits longest first.
PROGRAM_CHECKS = serve documents web screens proxy watch plot spark python binary arrow rosbag nmea gpsd signalk webhooks exports influx metrics
TRIES = try-kernel-forms build-tests $(PROGRAM_CHECKS:%=try-%) try-swift
# The tests of the program wait for it most of the time: each of their files is a process, and there are more of them than processors.
JOBS ?= 9
TOOL_TESTS = $(patsubst Tests/ToolTests/%.swift,ToolTests.%,$(shell grep -l @Test Tests/ToolTests/*.swift))
TEST_SUITES = $(addprefix suite-,HandlersTests StoreTests $(TOOL_TESTS) \
    $(filter-out HandlersTests StoreTests ToolTests,$(notdir $(wildcard Tests/*Tests))))
LONGER = 200 kills, 3000 random cases for each kernel, 1000 random devices, a page of 10 million samples, all tests of Spark, \
    every Swift block of the documents, Home Assistant, screens that turn, 300 daemons at one broker
# Linked statically, libstdc++ costs a running process 1 MB less: the linker takes the archive where it sees no other.
STATIC_LIBSTDCXX = $(lastword $(sort $(wildcard /usr/lib/gcc/*/*/libstdc++.a)))
# Each function gets a section of its own, which the linker can put elsewhere or leave out.
SECTIONS = -Xswiftc -Xfrontend -Xswiftc -function-sections
# The toolchain's own linker packs relocations: 856 kB that every start would read, and hold in memory, are 8 kB, in a form that glibc
# knows since 2.36. It keeps one copy of equal functions, and leaves out the names that only a library would be asked for. Debian asks
# that nothing be bound late.
# PORTABLE leaves the packing out, for systems with glibc 2.35, such as Ubuntu 22.04. ORDER is a file with names of functions, which
# the linker puts together in their order: `make build-ordered` makes one.
PACKING = $(if $(PORTABLE),,-Xlinker -z -Xlinker pack-relative-relocs)
LINKING = -Xswiftc -use-ld=lld $(PACKING) -Xlinker --icf=safe -Xlinker -z -Xlinker now \
    -Xlinker --no-export-dynamic \
    $(if $(ORDER),-Xlinker --no-warn-symbol-ordering -Xlinker --symbol-ordering-file=$(abspath $(ORDER)))
SANITIZERS = address thread
# Debug builds, such as those of `make sanitize` and `make fuzz`, check at each access to a property of an object that no other
# access overlaps it; in the program that is a third of the instructions for a delivery of one sample.
ACCESSES = -Xswiftc -enforce-exclusivity=unchecked
# A generic type's first use asks for it with its arguments and their conformances, which the compiler knows, and does not decode its
# name and search the conformances: a fifth of the instructions of a short replay.
TYPES = -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
# The measuring programs are built with the same flags: with others, SwiftPM would compile the modules again, for each of them.
# Nothing reads an index: Tests/Development/XCTMain.swift runs the tests.
INDEX = --disable-index-store
# A job of its own for each module's interface would check its types a second time: a tenth of the build.
ONCE = -Xswiftc -no-emit-module-separately-wmo
RELEASE = build -c release $(INDEX) --disable-local-rpath $(ONCE) $(SECTIONS) $(ACCESSES) $(TYPES) -Xlinker -L$(CURDIR)/.build/static $(LINKING)
# The telephone's maker has removed the hard iron.
CALIBRATED := --set north.north.hard_iron_uT=0
WALK = $(patsubst %,Tests/Fixtures/phyphox_walk/%.csv,Accelerometer Magnetometer Gyroscope)

.PHONY: screens static $(TRIES) $(TEST_SUITES) suite-SensorTests help setup setup-test setup-deb build build-ordered portable run wheel install uninstall clean \
    deb deb-arm64 arm64 repository image check-image check-package check-deb check-deb-arm64 check-tarball check-portable release \
    test test-long check-recipes test-systemd test-kernel soak-kernel walks fuzz sanitize soak golden lint format docs documents \
    bench bench-kernels bench-replay bench-recordings bench-sensors bench-daemon bench-fleet compare

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

setup: ## Install the Debian packages that building needs and that are missing (as root, or through sudo).
	@scripts/setup

setup-test: ## Install those that the tests need as well, among them a broker, which is not left running.
	@scripts/setup test

setup-deb: ## Install those with which Debian packages are made.
	@scripts/setup deb

build: setup static ## Build the release binary, .build/release/binnacle.
	BINNACLE_STATIC=1 $(SWIFT) $(RELEASE) --product binnacle

static:
	@mkdir -p .build/static
	@ln -sf $(STATIC_LIBSTDCXX) .build/static/

# Only the linking differs, so nothing is compiled again.
build-ordered: setup ## Build the program that is released, .build/ordered/binnacle: what a start calls lies together in it.
	$(MAKE) build
	$(DEVELOP) $(RELEASE) --product DaemonBench
	@mkdir -p .build/ordered
	scripts/packaging/order-functions $(BINARY) .build/ordered/functions
	$(MAKE) build ORDER=.build/ordered/functions
	mv $(BINARY) .build/ordered/binnacle
	$(MAKE) build

portable: build-ordered ## Build that program for systems as old as Ubuntu 22.04 (glibc 2.35), .build/portable/binnacle.
	$(MAKE) build PORTABLE=1 ORDER=.build/ordered/functions
	@mkdir -p .build/portable
	mv $(BINARY) .build/portable/binnacle
	$(MAKE) build

check-portable: setup ## Replay with that program in a root of Ubuntu 22.04 (as root).
	scripts/package portable --check

run: build ## Replay the bundled recording of a walk, and draw it into docs/walk.svg; SPEED=1 plays it in real time.
	$(BINARY) replay --speed $(SPEED) $(CALIBRATED) $(WALK)
	$(BINARY) plot --force -o docs/walk.svg $(CALIBRATED) $(WALK)

wheel: ## Make the wheel of the client for Python, in .build/wheel.
	scripts/packaging/make-wheel

deb: setup-deb ## Make the Debian packages, which lie in .build/deb/packages afterwards.
	scripts/package deb

arm64: setup-test ## Build the program for 64-bit ARM, in a root of Debian sid, and try it in an emulator (as root, on x86-64).
	scripts/package program --arch arm64 --check

deb-arm64: setup-deb ## Build that program, and make its Debian package, in .build/deb/packages (as root, on x86-64).
	scripts/package deb --arch arm64

check-deb-arm64: setup-test setup-deb ## Make that package twice, and have apt install it in an emulated Debian 12 (as root, on x86-64).
	scripts/package deb --arch arm64 --check

check-tarball: setup-test setup-deb ## Make the release files for x86-64 and 64-bit ARM twice, and install them in fresh roots (as root, on x86-64).
	scripts/package tarball --check
	scripts/package tarball --arch arm64 --check

check-deb: setup-deb ## Make the packages twice, and have apt install, upgrade and remove them in containers (as root).
	SUITES="$(SUITES)" scripts/package deb --check

repository: setup-deb ## Add the packages in .build/deb/packages to a signed repository for apt; SIGN_KEY, URI, REPOSITORY (default .build/repository).
	scripts/package repository $(REPOSITORY) .build/deb/packages/*.deb

image: setup-deb ## Make an image for containers (OCI) with the Debian package, in .build/image (as root).
	scripts/package image

check-image: setup-deb ## Make that image twice, and run it in containers on devices that are played (as root).
	scripts/package image --check

release: ## Run every check and make the files of VERSION, and its tag (as root); it refuses when anything is not green.
	scripts/release $(VERSION)

# The tests are built together with the program, of the same modules. Each target of tests, or file of them, is a process: that
# has as many threads for its tests as there are processors, and many tests wait. The mock devices have to deliver in time, which they do not beside
# tests that flood and kill: they come when all others are done. KERNEL_CASES and BINNACLE_LONG_TESTS say how thorough it is.
test: setup-test ## Run every test, against the release binary, and what the documents show.
	@$(MAKE) --no-print-directory -j$(JOBS) --output-sync=target suite-SensorTests
	@scripts/run-tests skipped
	@test -n "$(BINNACLE_LONG_TESTS)" || echo "make test-long also has: $(LONGER)"

$(PROGRAM_CHECKS:%=try-%): try-%: build-tests
	scripts/check $* $(BINARY)

try-kernel-forms:
	scripts/test-kernel-forms $(KERNEL_CASES)

try-swift: build-tests
	scripts/check-swift

# The same flags as those of `make build`: what one has compiled, the other has not to.
build-tests: setup-test static
	BINNACLE_STATIC=1 $(DEVELOP) $(RELEASE) --build-tests

suite-SensorTests: $(TRIES) $(TEST_SUITES)
$(TEST_SUITES) suite-SensorTests: suite-%: build-tests
	@BINNACLE_BINARY=$(CURDIR)/$(BINARY) scripts/run-tests $*

test-long: export BINNACLE_LONG_TESTS = 1
test-long: KERNEL_CASES = 3000
test-long: test ## Run every test in its long form: 200 kills, 1000 random devices, 3000 random cases for each kernel; as root.
	scripts/check home-assistant fleet rotate $(BINARY)

# It builds everything once more, which is long for what seldom breaks.
check-recipes: setup ## Build the handler, the detector and the decorator of docs/recipes.md into a copy of the sources, and try them.
	scripts/check-recipes

check-package: setup ## Build Integrations/swift in a fresh folder against a tag of a copy of this repository.
	scripts/check-package

test-systemd: build ## Test the service under a real systemd, in a container (as root); TESTS names some.
	SUITE="$(SUITE)" scripts/test-systemd $(BINARY) $(TESTS)

# Licences are looked for in every folder, also where the guest's root is being made.
ifneq ($(filter lint,$(MAKECMDGOALS)),)
test-kernel: | lint
endif

test-kernel: build ## Test the service in a QEMU guest, on a kernel with sensors that are played (as root); TESTS names some.
	SUITE="$(SUITE)" scripts/test-kernel $(BINARY) $(TESTS)
	$(if $(TESTS),,CHIPS=1 SUITE="$(SUITE)" scripts/test-kernel $(BINARY))

soak-kernel: build ## Run the service for two hours in that guest, or SOAK_SECONDS, while its sensors come and go (as root).
	SOAK_SECONDS=$(or $(SOAK_SECONDS),7200) scripts/test-kernel $(BINARY) soak

# It builds the program with coverage counters in .build/walks. `scripts/walks --write` rewrites docs/walks.md by what it measures.
walks: setup-test ## Measure which files an event passes, and compare them with docs/walks.md.
	scripts/walks

lint: build ## Check the format, the modules' imports and table, what systemd says of its files, the manual pages, links and figures of the documents, words, and licences.
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks
	scripts/check-imports
	scripts/check-units
	scripts/check-manual
	scripts/check-documents
	scripts/check-recipes --places
	scripts/check-words
	scripts/walks --check
	scripts/check-licences
	scripts/docs

format: ## Rewrite the sources in the project's format.
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks

docs: build ## Build the reference of the library and its articles into .build/docs; a warning is an error.
	scripts/docs

documents: setup static ## Write what is made from rows: manual pages, completions and config/binnacle.toml.
	$(DEVELOP) $(RELEASE) --product BinnacleDocs
	.build/release/BinnacleDocs .

# SWIFT_BACKTRACE: a crash that waits for its backtrace would hang the fuzzer.
fuzz: setup-test ## Feed the readers of scans, socket, Arrow, MCAP and iiod's requests with malformed input for FUZZ_SECONDS each, the kernels with FUZZ_CASES.
	for target in FuzzSensors FuzzSocket FuzzArrow FuzzIIO; do \
	    case $$target in FuzzArrow) longest=8192 ;; *) longest=512 ;; esac; \
	    BINNACLE_FUZZ=1 $(SWIFT) build --disable-index-store --scratch-path .build/fuzz --product $$target --sanitize address \
	        -Xswiftc -sanitize=fuzzer && mkdir -p .build/fuzz/corpus/$$target && \
	    SWIFT_BACKTRACE=enable=no .build/fuzz/debug/$$target -max_total_time=$(FUZZ_SECONDS) -max_len=$$longest \
	        -print_final_stats=1 -artifact_prefix=.build/fuzz/$$target- .build/fuzz/corpus/$$target \
	        Tests/$$target/Seeds || exit 1; \
	done
	test $(FUZZ_CASES) -gt 0 || exit 0; \
	BINNACLE_CASES=$(FUZZ_CASES) $(SWIFT) test -c release --scratch-path .build/fuzz-kernels --filter '^KernelsTests\.' && \
	scripts/test-kernel-forms $$(($(FUZZ_CASES) / 10))

sanitize: setup-test ## Run the tests of the library, and of the daemon, under the address and the thread sanitizer.
	for kind in $(SANITIZERS); do scripts/sanitize $$kind || exit 1; done

soak: setup-test build ## Flood for 30 s, reload 2000 times, and with SOAK_SECONDS=3600 run for an hour while everything changes.
	$(DEVELOP) build $(INDEX) --build-tests
	BINNACLE_DEVELOPMENT=1 scripts/soak $(CURDIR)/$(BINARY)

golden: build ## Rewrite the expected events of the golden traces; review the difference before you commit it.
	scripts/golden $(BINARY)

screens: build ## Take the pictures of the pages in Tests/Screens again; look at each that changes before you commit it.
	BINNACLE_WRITE_SCREENS=1 scripts/check screens $(BINARY)

bench: bench-kernels bench-replay bench-recordings bench-sensors bench-daemon ## Measure everything.

bench-kernels: build ## Measure the kernels against the limits of this machine, as 'binnacle bench' does.
	$(BINARY) bench

bench-recordings: build ## Replay Arrow recordings of 1, 10 and 100 million samples: time and memory; takes 2.3 GB of disk.
	Benchmarks/recordings $(BINARY)

compare: setup-test ## Do the same work with numpy, pandas, polars, duckdb and pyarrow, from PyPI into .build/python.
	$(DEVELOP) $(RELEASE) --product CompareBench
	Benchmarks/compare-tools .build/release/CompareBench $(COMPARE)

bench-replay: build ## Replay 10 million rows: throughput and memory.
	Benchmarks/replay $(BINARY)

bench-fleet: build ## Play hours of recordings with a shell loop and with Spark, in turn: time and memory; needs a Java runtime.
	BINNACLE_BINARY=$(CURDIR)/$(BINARY) PYTHONPATH=Integrations/spark/src:Integrations/spark/tests \
		"$$(scripts/python-environment spark)" -B Benchmarks/compare-fleet

bench-sensors: build ## Read a device that is a FIFO: latency, processor time, memory; BENCH_SECONDS (default 60).
	$(DEVELOP) $(RELEASE) --product SensorBench
	.build/release/SensorBench $(BINARY) $(BENCH_SECONDS)

bench-daemon: build-ordered ## Run the released daemon: what it costs at rest, how soon it starts and acts, and a flood; BENCH_SECONDS, BEFORE.
	$(CC) -O2 -static -o .build/release/stamp Benchmarks/DaemonBench/stamp.c
	.build/release/DaemonBench .build/ordered/binnacle $(CURDIR)/.build/release/stamp $(BENCH_SECONDS)
	Benchmarks/compare-starts 30 $(BEFORE) .build/ordered/binnacle

# Nothing is built, because root seldom has the toolchain. A configuration that was changed is left alone, and the new one
# is put beside it. In a unit a blank of a path is \x20.
install: ## Install the binary, its manual, configuration, udev rule, account and units; DESTDIR and PREFIX say where.
	@test -x '$(BINARY)' || { echo "install: there is no $(BINARY) yet: run 'make build' first" >&2; exit 66; }
	@test '$(or $(sysconfdir),/etc)' = /etc || \
	    { echo "install: the program reads /etc/binnacle alone: leave sysconfdir out" >&2; exit 64; }
	install -D -m 755 '$(BINARY)' '$(DESTDIR)$(bindir)/binnacle'
	@for pair in $(INSTALLED); do \
	    echo "install $${pair%%=*} $${pair#*=}"; \
	    install -D -m 644 "$${pair%%=*}" "$${pair#*=}" || exit 1; \
	    case $$pair in *.service) \
	        sed -i 's|^ExecStart=/usr/local/bin/|ExecStart=$(subst $() $(),\\x20,$(bindir))/|' "$${pair#*=}" || exit 1 ;; \
	    esac; \
	done
	install -d -m 755 '$(SETTINGS)' '$(SETTINGS)/conf.d'
	@if [ ! -e '$(CONFIGURATION)' ] || cmp -s '$(PRISTINE)' '$(CONFIGURATION)' || cmp -s config/binnacle.toml '$(CONFIGURATION)'; then \
	    install -v -m 644 config/binnacle.toml '$(CONFIGURATION)'; rm -f '$(CONFIGURATION).new'; \
	else install -v -m 644 config/binnacle.toml '$(CONFIGURATION).new'; fi
	@test -z '$(PRISTINE)' || install -D -m 644 config/binnacle.toml '$(PRISTINE)'
	@test -n '$(DESTDIR)' || printf '%s\n' 'To let the new rule and account take effect, without a restart:' \
	    '    systemd-sysusers' '    systemctl restart systemd-udevd' \
	    '    udevadm trigger --settle --subsystem-match=iio --subsystem-match=input' '    systemctl daemon-reload' \
	    'To adapt the configuration, with examples in $(PREFIX)/share/doc/binnacle/examples, and to check it:' \
	    '    editor /etc/binnacle/binnacle.toml' '    $(bindir)/binnacle check /etc/binnacle' \
	    'To start the service now and at every boot:' '    systemctl enable --now binnacle'

# What runs is ended first, because systemd forgets units whose files are gone. The account stays: files
# may still belong to it. So does a configuration that was changed, and a folder that is not empty.
uninstall: ## Remove what install put there, and end it; a configuration that was changed stays.
	@test -n '$(DESTDIR)' || ! test -d /run/systemd/system || { \
	    systemctl disable --now binnacle.service binnacle-trigger.service binnacle-metrics.socket binnacle-web.socket binnacle-serve.socket; \
	    systemctl stop 'binnacle-*@*.service'; } || true
	rm -f '$(DESTDIR)$(bindir)/binnacle' '$(CONFIGURATION).new'
	@for pair in $(INSTALLED); do rm -fv "$${pair#*=}" || exit 1; done
	@if cmp -s '$(PRISTINE)' '$(CONFIGURATION)' || cmp -s config/binnacle.toml '$(CONFIGURATION)'; then rm -fv '$(CONFIGURATION)'; fi
	@test -z '$(PRISTINE)' || rm -f '$(PRISTINE)'
	@for folder in '$(DOCUMENTS)/examples' '$(DOCUMENTS)' '$(SETTINGS)/conf.d' '$(SETTINGS)' $(if $(PRISTINE),"$$(dirname '$(PRISTINE)')"); do \
	    [ ! -d "$$folder" ] || rmdir --ignore-fail-on-non-empty "$$folder"; \
	done
	@test -n '$(DESTDIR)' || printf '%s\n' 'Left are the account `binnacle`, what the service kept in /var/lib/binnacle and /var/log/binnacle,' \
	    'and a configuration that was changed.'

clean: ## Remove everything that was built.
	rm -rf --one-file-system .build
