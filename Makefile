# Headgate. `make help` lists what you can do; `make run` and `make test` need nothing but Go, Node and make.
SHELL := /usr/bin/env bash
.DEFAULT_GOAL := help

GOLANGCI := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
WEB_SOURCES := $(shell find web/src web/public web/index.html web/*.json web/*.ts docs/openapi.json -type f 2>/dev/null)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: web/dist/index.html ## Start Headgate on embedded parts with sample data, and print the URL and the logins
	go build -o bin/admin ./cmd/admin
	@exec bin/admin serve --embedded

.PHONY: test
test: web/dist/index.html ## Run everything: Go with -race on real servers, the console's unit tests, the browser
	scripts/test.sh

.PHONY: test-go
test-go: ## Run the Go tests alone (-race, -shuffle) on real servers
	scripts/test-go.sh

.PHONY: test-web
test-web: web/node_modules/.installed ## Run the console's unit tests alone
	cd web && npm test --silent

.PHONY: test-e2e
test-e2e: web/dist/index.html ## Run the browser tests alone, against real MariaDB and Redis
	scripts/test-e2e.sh

.PHONY: lint
lint: web/node_modules/.installed ## Check formatting, golangci-lint, ESLint and the console's types
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not gofmt-ed:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GOLANGCI) run ./...
	cd bench && $(GOLANGCI) run ./...
	cd test/mysqlsyntax && $(GOLANGCI) run ./...
	cd web && npm run --silent lint

.PHONY: build
build: web/dist/index.html ## Build bin/admin (console inside) and bin/client-demo
	go build -o bin/ ./cmd/admin ./cmd/client-demo

.PHONY: bench
bench: ## Run Headgate's SDK beside other limiters, about 7 minutes; ARGS="-h" tells how to run a part
	@scripts/deps.sh redis
	@cd bench && go build -o ../bin/bench . && exec ../bin/bench $(ARGS)

.PHONY: bench-docs
bench-docs: ## Run the benchmark and put its figures and plots into docs/benchmarks.md
	@$(MAKE) --no-print-directory bench ARGS="-publish ../docs $(ARGS)"

.PHONY: bench-audit
bench-audit: ## Verify a history of a million rows on a real database, and print how long it takes
	@scripts/deps.sh mariadb
	go test ./internal/store -run '^$$' -bench Verify -benchtime 1x -timeout 30m -v

.PHONY: bench-sync
bench-sync: ## Measure how soon Redis follows the database, with 100,000 buckets, about 2 minutes
	@scripts/deps.sh redis mariadb
	go test -run '^$$' -bench . -benchtime 1x -timeout 20m ./internal/e2e/syncbench

.PHONY: bench-api
bench-api: ## Measure the API with 100,000 buckets and a history of a million rows, about 3 minutes
	@scripts/deps.sh redis mariadb
	go test -run '^$$' -bench '^BenchmarkAPI$$' -benchtime 1x -timeout 20m -v ./internal/e2e/apibench

.PHONY: bench-console
bench-console: web/dist/index.html ## Measure the console in Chromium with 10,000 buckets, about 18 minutes; ARGS="-only chart" runs a part
	@scripts/deps.sh redis mariadb chromium
	go test -run '^$$' -bench '^BenchmarkConsole$$' -benchtime 1x -timeout 3h -v ./internal/e2e/apibench -args $(ARGS)

.PHONY: bench-console-docs
bench-console-docs: ## Measure the console and put its figures into docs/benchmarks.md
	@$(MAKE) --no-print-directory bench-console ARGS="-publish docs $(ARGS)"

.PHONY: openapi
openapi: ## Write docs/openapi.json anew from the routes
	go run ./cmd/admin openapi > docs/openapi.json.new && mv docs/openapi.json.new docs/openapi.json

.PHONY: screenshots
screenshots: web/dist/index.html ## Take a screenshot of every page into web/e2e/screenshots, in light, dark, Chinese and narrow
	HEADGATE_E2E_SCREENSHOTS=1 scripts/test-e2e.sh all-pages

.PHONY: image
image: ## Build the container image headgate:VERSION (VERSION=development); needs a Docker engine
	docker build --build-arg VERSION=$(or $(VERSION),development) -t headgate:$(or $(VERSION),development) .

.PHONY: image-test
image-test: ## Build the image and run it on real servers; fails where no Docker engine answers ("make test" leaves it out)
	@docker version --format 'Docker engine {{.Server.Version}}' || { echo "no Docker engine answers: the image was NOT tested"; exit 1; }
	go test -tags image -count 1 -timeout 30m -v -run TestImage ./internal/e2e

.PHONY: clean
clean: ## Remove what was built (not data/)
	rm -rf bin web/node_modules
	find web/dist -mindepth 1 ! -name placeholder -delete 2>/dev/null || true

web/node_modules/.installed: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

web/dist/index.html: web/node_modules/.installed $(WEB_SOURCES)
	cd web && npm run --silent build
	@touch $@
