# idemctl: build, test and check. `make` lists the targets.

GO      ?= go
PKGS    ?= ./...
BIN     := bin/idemctl
BUILD   := build

# The program is static and so are its tests; only the race detector needs C.
CGO_ENABLED ?= 0
export CGO_ENABLED

TEST_TIMEOUT ?= 10m
RACE_TIMEOUT ?= 20m
TESTFLAGS    ?=
# The tests wait for time to pass more than they compute.
PARALLEL     ?= 8

# Benchmarks count their rounds themselves, since those of one variant must not
# follow one another.
BENCH         ?= .
BENCH_ROUNDS  ?= 3
BENCHFLAGS    ?= -v
BENCH_TIMEOUT ?= 20m

FUZZTIME ?= 10s

PREFIX  ?= /usr/local
DESTDIR ?=

# Where git cannot say, the program falls back on its own build information.
VERSION := $(shell git describe --tags --match 'v[0-9]*' --always --dirty 2>/dev/null)
COMMIT  := $(shell git rev-parse --verify --quiet HEAD 2>/dev/null)
DATE    := $(shell git log -1 --format=%cI 2>/dev/null)
LDFLAGS := -s -w
LDFLAGS += $(if $(VERSION),-X main.version=$(VERSION:v%=%))
LDFLAGS += $(if $(COMMIT),-X main.commit=$(COMMIT))
LDFLAGS += $(if $(DATE),-X main.date=$(DATE))

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nVariables: PKGS="./inspect/..." TESTFLAGS="-run Name" BENCH=Audit/loopback BENCH_ROUNDS=5 FUZZTIME=1m\n'

.PHONY: build
build: ## build bin/idemctl, static
	$(GO) build -buildvcs=false -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/idemctl

.PHONY: install
install: build ## build, then copy into PREFIX/bin (/usr/local/bin)
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install -m 0755 $(BIN) '$(DESTDIR)$(PREFIX)/bin/idemctl'

.PHONY: demo
demo: build ## build, then audit the embedded laboratory (its findings are the point)
	@$(BIN) demo || [ $$? -eq 1 ]

.PHONY: servers
servers:
	@scripts/ensure-servers.sh

.PHONY: test
test: servers ## run the tests; as root it first installs redis-server and PostgreSQL if missing
	$(GO) test -count=1 -parallel $(PARALLEL) -timeout $(TEST_TIMEOUT) $(TESTFLAGS) $(PKGS)

# What `make test` does in full is done in small under the race detector, which
# makes everything several times slower.
SMALL ?= IDEMCTL_LIVE_TASKS=5000 IDEMCTL_BUSY_SECONDS=3 IDEMCTL_RACE_ROUNDS=500 IDEMCTL_KILL_ROUNDS=15

.PHONY: race
race: servers ## run the tests under the race detector (needs a C compiler)
	@command -v $${CC:-gcc} >/dev/null || \
		{ echo 'make race needs a C compiler: sudo apt-get install gcc libc6-dev' >&2; exit 1; }
	CGO_ENABLED=1 $(SMALL) $(GO) test -race -count=1 -parallel $(PARALLEL) -timeout $(RACE_TIMEOUT) $(TESTFLAGS) $(PKGS)

.PHONY: cover
cover: servers ## run the tests, then write build/cover.html and print the total
	@mkdir -p $(BUILD)
	$(GO) test -count=1 -parallel $(PARALLEL) -timeout $(TEST_TIMEOUT) $(TESTFLAGS) -coverpkg=./... -coverprofile=$(BUILD)/cover.profile $(PKGS)
	$(GO) tool cover -html=$(BUILD)/cover.profile -o $(BUILD)/cover.html
	@$(GO) tool cover -func=$(BUILD)/cover.profile | tail -n 1

.PHONY: bench
bench: servers ## measure audits against a naive loop and a floor (about four minutes)
	IDEMCTL_BENCH_ROUNDS=$(BENCH_ROUNDS) $(GO) test -run '^$$' -bench '$(BENCH)' $(BENCHFLAGS) -timeout $(BENCH_TIMEOUT) ./bench

.PHONY: fuzz
fuzz: ## run each fuzz test for FUZZTIME
	@grep -r --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' . | sort | \
	while IFS=: read -r file name; do \
		$(GO) test -run '^$$' -fuzz "^$${name#func }$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null || exit 1; \
	done

.PHONY: check
check: vet lint test ## vet, lint and test

.PHONY: vet
vet: ## run go vet
	$(GO) vet $(PKGS)

.PHONY: cross
cross: ## run go vet as the other released systems see the code
	GOOS=darwin GOARCH=arm64 $(GO) vet $(PKGS)
	GOOS=windows GOARCH=amd64 $(GO) vet $(PKGS)

.PHONY: lint
lint: ## run golangci-lint (built on first use: about five minutes)
	@tool=$$(scripts/ensure-tool.sh golangci-lint) && set -x && "$$tool" run $(PKGS)

.PHONY: fmt
fmt: ## format the code with gofumpt and goimports
	@tool=$$(scripts/ensure-tool.sh golangci-lint) && set -x && "$$tool" fmt

.PHONY: vuln
vuln: ## look for known vulnerabilities that the code can reach
	@tool=$$(scripts/ensure-tool.sh govulncheck) && set -x && "$$tool" ./...

.PHONY: release-check
release-check: ## check .goreleaser.yaml (goreleaser is built on first use: about six minutes)
	@tool=$$(scripts/ensure-tool.sh goreleaser) && set -x && "$$tool" check

.PHONY: snapshot
snapshot: ## build every release artefact into dist/, publishing nothing
	@tool=$$(scripts/ensure-tool.sh goreleaser) && set -x && "$$tool" release --snapshot --clean --skip=publish

.PHONY: ci
ci: ## run what continuous integration runs
	bash .ci/run

.PHONY: clean
clean: ## remove what the other targets wrote
	rm -rf bin $(BUILD) dist
