# Weir: `make demo` shows it, `make test` proves it, `make help` lists the rest.
BOARD ?= qemu-arm64
OUT   ?= build/$(BOARD)

# Go's own settings, so that a build here is a build anywhere.
export CGO_ENABLED ?= 0
export GOFLAGS     ?= -buildvcs=false

.DEFAULT_GOAL := help
.PHONY: help demo qemu test hard image repro fuzz lint generate

help: ## lists the targets
	@sed -n 's/^\([a-z]*\):[^#]*## /\1	/p' Makefile | expand -t 12

demo: ## boots a gateway in QEMU and carries traffic through it (the first thing to run)
	@scripts/setup demo
	@go run ./qemu/cmd/weir-lab demo -board $(BOARD)

qemu: ## the same machine with a console to play with [BOARD=qemu-arm64|qemu-armv7]
	@scripts/setup demo
	@go run ./qemu/cmd/weir-lab qemu -board $(BOARD)

test: ## unit, namespace and guest tests
	@scripts/setup test
	@scripts/test

hard: ## race detector, frame ownership, and everything that might bring PID 1 down
	@scripts/setup test
	@scripts/hard

image: ## builds the image of BOARD into OUT [BOARD=qemu-arm64] [OUT=build/BOARD]
	@scripts/setup demo
	@go run ./images/cmd/weir-image build -board $(BOARD) -o $(OUT)

repro: ## builds the image twice, apart, and compares every byte
	@scripts/setup demo
	@go run ./images/cmd/weir-image repro -board $(BOARD)

fuzz: ## runs every fuzz target [FUZZTIME=60s each]
	@scripts/fuzz $(or $(FUZZTIME),60s)

lint: ## formatting, vet for every architecture, the tree's rules, the committed XDP object
	@scripts/setup test
	@scripts/lint

generate: ## rebuilds the committed XDP object
	@scripts/generate
