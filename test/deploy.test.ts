// Checks compose.yaml and deploy/kubernetes without Docker or a cluster: they must match the image, the bot and its variables.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { startHttp } from "#src/adapters/http/server.ts";
import { PATIENT } from "#src/adapters/store/postgres.ts";
import { readConfig, variables } from "#src/config.ts";
import { imageEnv, linesOf } from "./make/dockerfile.ts";

const ROOT = new URL("../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");

/** Returns the documents of a file. A duplicate key, or any other error or warning, fails the test. */
function documents(path: string): unknown[] {
  return parseAllDocuments(read(path), { uniqueKeys: true }).map((document) => {
    const odd = [...document.errors, ...document.warnings].map(({ message }) => `${path}: ${message}`);
    expect(odd).toEqual([]);
    return document.toJS() as unknown;
  });
}

const known: readonly string[] = variables.map(({ name }) => name);
const SECRETS = /TOKEN|SECRET|KEY|PASSWORD|DATABASE_URL/;
/** `docker.test.ts` checks that the image listens there. */
const imagePort = Number(linesOf("EXPOSE")[0]);

describe("compose.yaml", () => {
  const Service = z.object({
    image: z.string(),
    profiles: z.array(z.string()).optional(),
    environment: z.record(z.string(), z.string().nullable()),
    volumes: z.array(z.string()),
    expose: z.array(z.string()).optional(),
    ports: z.array(z.unknown()).optional(),
    deploy: z.object({ replicas: z.string() }).optional(),
    depends_on: z.record(z.string(), z.object({ condition: z.string(), required: z.boolean() })).optional(),
    healthcheck: z.object({ test: z.array(z.string()) }).optional(),
    stop_grace_period: z.string().optional(),
    read_only: z.boolean().optional(),
    tmpfs: z.array(z.string()).optional(),
    cap_drop: z.array(z.string()).optional(),
    security_opt: z.array(z.string()).optional(),
  });
  const compose = z
    .object({ services: z.record(z.string(), Service), volumes: z.record(z.string(), z.null()) })
    .parse(documents("compose.yaml")[0]);
  const { countersign: bot, postgres, ...others } = compose.services;
  if (bot === undefined || postgres === undefined) throw new Error("a service is missing");

  /** Fills in `${NAME:-default}` and `${NAME:?words}` as Compose does. A variable without a value gets the value from `.env`. */
  function filled(env: Record<string, string>): Record<string, string> {
    const values = Object.entries(bot?.environment ?? {}).map(([name, value]) => [
      name,
      value === null
        ? env[name]
        : value.replace(
            /\$\{(\w+):([-?])([^}]*)\}/g,
            (_, of: string, kind: string, rest: string) => env[of] || (kind === "-" ? rest : "(missing)"),
          ),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Record<string, string>;
  }

  const TOKENS = {
    SLACK_BOT_TOKEN: "xoxb-1-abc",
    SLACK_APP_TOKEN: "xapp-1-abc",
    AGENT_BASE_URL: "https://agents.example.com",
    AGENT_API_KEY: "key",
  };

  test("passes every variable on, Node's own for certificates too, except for the address, which the image sets", () => {
    expect(Object.keys(bot.environment).toSorted()).toEqual(
      [...known.filter((name) => name !== "HOST" && name !== "PORT"), "NODE_EXTRA_CA_CERTS"].toSorted(),
    );
    expect(imageEnv).toMatchObject({ HOST: "0.0.0.0", PORT: String(imagePort) });
  });

  test("with only the tokens set, it runs one bot with SQLite on the image's volume", () => {
    expect(Object.keys(others)).toEqual([]);
    expect(bot.profiles).toBeUndefined();
    expect(bot.deploy?.replicas).toBe("${REPLICAS:-1}");
    const config = readConfig({ ...imageEnv, ...filled(TOKENS) });
    expect(config.ok && config.value.database).toEqual({ engine: "sqlite", path: "/data/countersign.db" });
    expect(bot.volumes).toContain("data:/data");
    expect(linesOf("VOLUME")).toEqual(["/data"]);
    expect(filled({})).toMatchObject({ SLACK_BOT_TOKEN: "(missing)", AGENT_API_KEY: "(missing)" });
  });

  test("each secret can come from a file, in place of its line, as the comment says", () => {
    const text = read("compose.yaml").replaceAll(/\n# ?/g, " ");
    expect(text).toContain(
      "replace the variable's line below, under `environment`, with one such as `AUDIT_KEY_FILE: /",
    );
    const folder = mkdtempSync(join(tmpdir(), "countersign-secrets-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const secrets: Record<string, string> = {
      ...TOKENS,
      DATABASE_URL: "postgres://countersign:0123abcd@db.example.com/countersign?sslmode=verify-full",
      AUDIT_KEY: Buffer.alloc(32, 7).toString("base64"),
    };
    for (const name of ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "AGENT_API_KEY", "DATABASE_URL", "AUDIT_KEY"]) {
      const file = join(folder, name);
      writeFileSync(file, `${secrets[name]}\n`);
      const { [name]: _, ...others } = filled({ ...secrets, [name]: "" });
      const replaced = readConfig({ ...imageEnv, ...others, [`${name}_FILE`]: file });
      expect([name, replaced.ok]).toEqual([name, true]);
    }
  });

  test("with the lines from its comment, it runs three bots with PostgreSQL", () => {
    const lines = [...read("compose.yaml").matchAll(/^#\s{3}([A-Z_]+)=(\S+)/gm)];
    const said = Object.fromEntries(lines.map(([, name = "", value = ""]) => [name, value]));
    expect(Object.keys(said)).toEqual([
      "COMPOSE_PROFILES",
      "REPLICAS",
      "POSTGRES_PASSWORD",
      "DATABASE_URL",
      "AUDIT_KEY",
    ]);
    expect(postgres.profiles).toEqual([said["COMPOSE_PROFILES"]]);
    expect(said["REPLICAS"]).toBe("3");
    const [line = ""] = /postgres:\/\/.*$/m.exec(read("compose.yaml")) ?? [];
    const DATABASE_URL = line.replace("<the password>", "0123abcd");
    const AUDIT_KEY = Buffer.alloc(32, 7).toString("base64");
    const config = readConfig({ ...imageEnv, ...filled({ ...TOKENS, DATABASE_URL, AUDIT_KEY }) });
    expect(config.ok && config.value.database.engine).toBe("postgres");
    const { username, hostname, pathname } = new URL(DATABASE_URL);
    expect(said["DATABASE_URL"]).toBe(`postgres://${username}:<the`);
    expect(Object.keys(compose.services)).toContain(hostname);
    expect(postgres.environment).toMatchObject({ POSTGRES_USER: username, POSTGRES_DB: pathname.slice(1) });
    expect(postgres.healthcheck?.test).toContain(`--username=${username}`);
  });

  test("the files that its comments name are in the folders that they mount", () => {
    const text = read("compose.yaml").replaceAll(/\n\s*#/g, " ");
    const files = [...text.matchAll(/(?:POLICY_FILE|NODE_EXTRA_CA_CERTS)=(\/\w+)\/\S+/g)];
    const mounts = [...text.matchAll(/- \.\/\w+:(\/\w+):ro/g)].map(([, folder]) => folder);
    expect(files).toHaveLength(2);
    expect(files.map(([, folder]) => folder)).toEqual(mounts);
  });

  test("the bots wait for PostgreSQL only if it is enabled", () => {
    expect(bot.depends_on).toEqual({ postgres: { condition: "service_healthy", required: false } });
  });

  test("several bots run on one machine, because none publishes a port", () => {
    expect(bot.ports).toBeUndefined();
    expect(postgres.ports).toBeUndefined();
    expect(bot.expose).toEqual([String(imagePort)]);
  });

  test("a stop gives the bot enough time, and the bot has minimal privileges", () => {
    expect(Number(bot.stop_grace_period?.replace("s", ""))).toBeGreaterThan(10);
    expect(bot).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
  });

  test("the commands that copy the database can write to the temporary folder", () => {
    expect(bot.tmpfs).toEqual(["/tmp"]);
  });

  test("has the service, the user and the database that the page about back-ups dumps", () => {
    const { POSTGRES_USER: user, POSTGRES_DB: name } = postgres.environment;
    const dump = `docker compose exec -T postgres pg_dump --username=${user} --format=custom --no-owner ${name} >`;
    expect(read("docs/backup.md")).toContain(dump);
  });

  test("contains no secret, and every volume is declared", () => {
    const secrets = [bot, postgres]
      .flatMap(({ environment }) => Object.entries(environment))
      .filter(([name]) => SECRETS.test(name));
    expect(secrets.length).toBeGreaterThan(5);
    for (const [, value] of secrets) expect(value ?? "").toMatch(/^$|^\$\{/);
    const named = [bot, postgres].flatMap(({ volumes }) => volumes.map((each) => each.split(":")[0] ?? ""));
    expect(named.toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
  });
});

describe("deploy/kubernetes", () => {
  const folder = "deploy/kubernetes";
  const Meta = z.object({ name: z.string(), labels: z.record(z.string(), z.string()) });
  const Probe = z.object({
    httpGet: z.object({ path: z.string(), port: z.string() }),
    periodSeconds: z.number(),
    timeoutSeconds: z.number(),
    failureThreshold: z.number(),
  });
  const SecretFile = z.strictObject({ name: z.string(), value: z.string() });
  const Container = z.object({
    image: z.string(),
    env: z.array(SecretFile),
    envFrom: z.array(z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) })),
    ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
    startupProbe: Probe,
    livenessProbe: Probe,
    readinessProbe: Probe,
    lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }),
    resources: z.object({
      requests: z.record(z.string(), z.string()),
      limits: z.record(z.string(), z.string()),
    }),
    securityContext: z.unknown(),
    volumeMounts: z.array(
      z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true) }),
    ),
  });
  const Selector = z.object({ matchLabels: z.record(z.string(), z.string()) });
  const Deployment = z.object({
    apiVersion: z.literal("apps/v1"),
    kind: z.literal("Deployment"),
    metadata: Meta,
    spec: z.object({
      replicas: z.number(),
      strategy: z.unknown(),
      selector: Selector,
      template: z.object({
        metadata: Meta.pick({ labels: true }),
        spec: z.object({
          automountServiceAccountToken: z.literal(false),
          terminationGracePeriodSeconds: z.number(),
          topologySpreadConstraints: z.array(z.object({ labelSelector: Selector })),
          securityContext: z.object({ runAsNonRoot: z.literal(true), runAsUser: z.number().min(1) }),
          containers: z.tuple([Container]),
          volumes: z.array(
            z.object({ name: z.string(), secret: z.object({ secretName: z.string() }).optional() }),
          ),
        }),
      }),
    }),
  });
  const ConfigMap = z.object({
    apiVersion: z.literal("v1"),
    kind: z.literal("ConfigMap"),
    metadata: Meta,
    data: z.record(z.string(), z.string()),
  });
  const Service = z.object({
    apiVersion: z.literal("v1"),
    kind: z.literal("Service"),
    metadata: Meta,
    spec: z.object({
      selector: z.record(z.string(), z.string()),
      ports: z.array(z.object({ port: z.number(), targetPort: z.string() })),
    }),
  });
  const Budget = z.object({
    apiVersion: z.literal("policy/v1"),
    kind: z.literal("PodDisruptionBudget"),
    metadata: Meta,
    spec: z.object({ maxUnavailable: z.number(), selector: Selector }),
  });

  const found = new Map(
    readdirSync(fileURLToPath(new URL(folder, ROOT)))
      .flatMap((name) => documents(`${folder}/${name}`))
      .map((each) => [z.object({ kind: z.string() }).parse(each).kind, each]),
  );
  const deployment = Deployment.parse(found.get("Deployment"));
  const config = ConfigMap.parse(found.get("ConfigMap"));
  const service = Service.parse(found.get("Service"));
  const budget = Budget.parse(found.get("PodDisruptionBudget"));
  const { spec: pod, metadata: podMeta } = deployment.spec.template;
  const [container] = pod.containers;

  test("all manifests select the same pods", () => {
    expect([...found.keys()].toSorted()).toEqual([
      "ConfigMap",
      "Deployment",
      "PodDisruptionBudget",
      "Service",
    ]);
    const { labels } = podMeta;
    const selectors = [
      deployment.spec.selector.matchLabels,
      service.spec.selector,
      budget.spec.selector.matchLabels,
      ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector.matchLabels),
    ];
    for (const selector of selectors) expect(selector).toEqual(labels);
    for (const { metadata } of [deployment, config, service, budget])
      expect(metadata).toEqual({ name: "countersign", labels });
  });

  test("an update or a drained node never stops all replicas", () => {
    const { replicas, strategy } = deployment.spec;
    expect(replicas).toBe(3);
    expect(strategy).toEqual({
      type: "RollingUpdate",
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    });
    expect(budget.spec.maxUnavailable).toBeGreaterThan(0);
    expect(budget.spec.maxUnavailable).toBeLessThan(replicas);
  });

  test("the bot starts with these variables, and every secret comes from the Secret that the comment creates", () => {
    const names = container.env.map(({ name }) => name.replace(/_FILE$/, ""));
    const given = [...names, ...Object.keys(config.data)];
    expect(given.filter((name) => !known.includes(name))).toEqual([]);
    expect(new Set(given).size).toBe(given.length);
    expect(Object.keys(config.data).filter((name) => SECRETS.test(name))).toEqual([]);
    const values: Record<string, string> = {
      SLACK_BOT_TOKEN: "xoxb-1-abc",
      SLACK_APP_TOKEN: "xapp-1-abc",
      AGENT_API_KEY: "key",
      DATABASE_URL: "postgres://countersign:0123abcd@db.example.com/countersign?sslmode=verify-full",
      AUDIT_KEY: Buffer.alloc(32, 7).toString("base64"),
    };
    const folder = mkdtempSync(join(tmpdir(), "countersign-secrets-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [mount] = container.volumeMounts.filter(({ name }) => name === "secrets");
    const files = container.env.map(({ name, value }) => {
      expect(value.startsWith(`${mount?.mountPath}/`)).toBe(true);
      const file = join(folder, basename(value));
      writeFileSync(file, `${values[name.replace(/_FILE$/, "")]}\n`);
      return [name, file];
    });
    const env = { ...imageEnv, ...config.data, ...(Object.fromEntries(files) as object) };
    expect(readConfig(env)).toMatchObject({
      ok: true,
      value: { database: { engine: "postgres" }, http: { host: "0.0.0.0", port: imagePort } },
    });
    const created = [...read("deploy/kubernetes/deployment.yaml").matchAll(/--from-file=([a-z-]+)/g)];
    expect(created.map(([, key = ""]) => key).toSorted()).toEqual(
      container.env.map(({ value }) => basename(value)).toSorted(),
    );
    for (const { name, value } of container.env)
      expect(`${basename(value)}-file`).toBe(name.toLowerCase().replaceAll("_", "-"));
    expect(pod.volumes.find(({ name }) => name === "secrets")?.secret).toEqual({ secretName: "countersign" });
    expect(container.envFrom).toEqual([{ configMapRef: { name: config.metadata.name } }]);
  });

  test("the probes request paths that the bot answers, at its port, and allow a slow start", async () => {
    expect(container.ports).toEqual([{ name: "http", containerPort: imagePort }]);
    expect(service.spec.ports.map(({ targetPort }) => targetPort)).toEqual(["http"]);
    expect(container.livenessProbe.httpGet).toEqual({ path: "/livez", port: "http" });
    expect(container.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "http" });
    const server = await startHttp({
      host: "127.0.0.1",
      port: 0,
      live: () => true,
      ready: () => Promise.resolve({ status: "ok", version: "1.2.3", checks: {} }),
      metrics: () => Promise.resolve({ contentType: "text/plain", body: "" }),
    });
    for (const { httpGet } of [container.startupProbe, container.livenessProbe, container.readinessProbe])
      expect((await fetch(server.url + httpGet.path)).status).toBe(200);
    await server.close();
    // A stuck process is restarted, but a start is given as long as one statement of a migration.
    const { periodSeconds, failureThreshold } = container.startupProbe;
    expect(1_000 * periodSeconds * failureThreshold).toBeGreaterThanOrEqual(PATIENT.statementMs);
  });

  test("a stop gives the bot enough time", () => {
    const { seconds } = container.lifecycle.preStop.sleep;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds + 10);
  });

  test("the bot has minimal privileges and does not run as root", () => {
    expect(container.securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
    expect(linesOf("USER").at(-1)).toBe("node");
    // The user "node" of the official images.
    expect(pod.securityContext.runAsUser).toBe(1000);
    expect(Object.keys(container.resources.limits)).toContain("memory");
  });
});
