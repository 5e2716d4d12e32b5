# The image of Stackwarden. `docker build --target nonroot .` makes one that has no rights of root.
FROM node:22-bookworm AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run package \
  && npm install --global --allow-scripts=better-sqlite3 --prefix /opt/stackwarden ./stackwarden-*.tgz

FROM node:22-bookworm-slim AS runtime
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates tzdata \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/stackwarden /opt/stackwarden
# From outside of the container its loopback cannot be reached.
ENV PATH=/opt/stackwarden/bin:$PATH \
  STACKWARDEN_CONFIG_DIR=/config \
  DUMB_API_SERVICE_HOST=0.0.0.0 \
  DUMB_GATEWAY_HOST=0.0.0.0
EXPOSE 8000 3005
HEALTHCHECK --start-period=60s --interval=30s --timeout=10s CMD ["stackwarden", "health"]
# PID 1 reaps what services leave behind, and passes signals on.
# One thread of V8 is enough for a host that mostly waits: each keeps memory.
ENTRYPOINT ["stackwarden-init", "node", "--v8-pool-size=1", "/opt/stackwarden/bin/stackwarden"]
CMD ["start"]

FROM runtime AS nonroot
RUN install -d -o node -g node /config
VOLUME /config
USER node

FROM runtime
VOLUME /config
