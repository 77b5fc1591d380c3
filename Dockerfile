# Only the bot: production dependencies, no sandbox, no build step (Node runs the TypeScript directly).
#
# The base is the official image of the Node version that the tests use. Debian's fixes come with newer tags. For a reproducible build, pass
# a digest that you have checked:
#   docker build --build-arg NODE_IMAGE=node:26.10.0-slim@sha256:… -t countersign .
ARG NODE_IMAGE=node:26.10.0-slim
FROM ${NODE_IMAGE}

LABEL org.opencontainers.image.title="countersign" \
      org.opencontainers.image.version="0.3.0" \
      org.opencontainers.image.licenses="MIT"

ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Of the optional packages, the image needs those that draw the chart. The others contain a Node for machines with an old one.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/node-* node_modules/.bin/node && npm cache clean --force
COPY src ./src

# The link brings the default of DATABASE_URL onto the volume. The image itself must not set the variable: a deployment that sets
# DATABASE_URL_FILE cannot remove it, and the bot refuses to start with both.
RUN mkdir /data && chown node:node /data && ln -s /data /app/data
VOLUME /data

# A start without a configuration loads the whole program and exits with 2. Node keeps what it has compiled, which halves the time of each
# start in a container. Node demands that the same user made these files, so the step runs as "node". Afterwards root owns them, so that the
# bot can read but not change them.
RUN mkdir node_modules/.cache && chown node:node node_modules/.cache
USER node
RUN node --import=./src/compile-cache.js --max-semi-space-size=2 --preserve-symlinks --disable-sigusr1 src/main.ts; test $? -eq 2
USER root
RUN chown -R root:root node_modules/.cache && chmod -R a+rX,a-w node_modules/.cache
USER node

EXPOSE 3000
# Not /readyz: an outage of Slack is no reason for a supervisor to restart the bot.
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

# SIGUSR1 would open a debugger, through which anyone on the machine could read the tokens.
CMD ["node", "--import=./src/compile-cache.js", "--max-semi-space-size=2", "--preserve-symlinks", "--disable-sigusr1", "src/main.ts"]
