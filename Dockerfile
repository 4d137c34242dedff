# The admin server: console and static binary are built here, the image holds nothing else but certificate authorities.
#   docker build --build-arg VERSION=1.2.3 -t headgate .
ARG NODE_IMAGE=node:22-bookworm-slim
ARG GO_IMAGE=golang:1.26-bookworm

FROM ${NODE_IMAGE} AS console
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund --loglevel=error
COPY docs/openapi.json /src/docs/openapi.json
COPY web ./
RUN npm run --silent build

FROM ${GO_IMAGE} AS program
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=console /src/web/dist web/dist
ARG VERSION=development
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/headgate-admin ./cmd/admin

FROM scratch
COPY --from=program /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=program /out/headgate-admin /headgate-admin
USER 65532:65532
ENV HEADGATE_LISTEN=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/headgate-admin", "probe"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/headgate-admin"]
CMD ["serve"]
