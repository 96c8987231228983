# `make help` lists what there is. Everything installs what it needs by itself; a second run works offline.

SWIFT ?= swift
SPEED ?= max
BINARY = .build/release/binnacle
WALK = Tests/Fixtures/phyphox_walk/Accelerometer.csv Tests/Fixtures/phyphox_walk/Magnetometer.csv

.PHONY: help setup build run test lint format golden bench clean

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## Install the Debian packages that are missing (as root, or through sudo).
	@scripts/setup

build: setup ## Build the release binary, .build/release/binnacle.
	$(SWIFT) build -c release --static-swift-stdlib --product binnacle

run: build ## Replay the bundled recording of a walk; SPEED=1 plays it in real time.
	$(BINARY) replay --speed $(SPEED) $(WALK)

test: build ## Run every test, against the release binary, and the README's example.
	BINNACLE_BINARY=$(CURDIR)/$(BINARY) $(SWIFT) test
	scripts/check-readme

lint: ## Check the format, and that no module imports what it must not.
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests
	scripts/check-imports

format: ## Rewrite the sources in the project's format.
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

golden: build ## Rewrite the expected events of the golden traces; review the difference before you commit it.
	scripts/golden $(BINARY)

bench: build ## Replay 10 million rows: throughput and memory.
	scripts/bench-replay $(BINARY)

clean: ## Remove everything that was built.
	rm -rf .build
