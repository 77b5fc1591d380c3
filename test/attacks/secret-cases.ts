// Secrets that might leak, addresses that might lead elsewhere, a start without protection, and dependencies.

import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { openSink } from "#src/adapters/audit-sink/open-sink.ts";
import { createAgentService } from "#src/adapters/agents/agent-service.ts";
import { createGateway } from "#src/adapters/agents/health-endpoints.ts";
import { readPolicy } from "#src/adapters/policy-file/read-policy.ts";
import { formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import {
  ANSWER_HOSTS,
  createClients,
  createReplacer,
  createResponder,
  isSlackAddress,
  UPLOAD_HOSTS,
} from "#src/adapters/slack/clients.ts";
import { explainFaults, readConfig } from "#src/config.ts";
import { ApprovalId, RunId } from "#src/domain/ids.ts";
import { cardSlot, OPENING, OUTCOME } from "#src/domain/slot.ts";
import { createLog, slackLogger } from "#src/log.ts";
import { failureOf } from "../adapters/slack/failing.ts";
import { listening } from "../adapters/slack/listening.ts";
import { endedRun, requestOf } from "../adapters/slack/observed.ts";
import { SECRETS } from "../domain/secret-shapes.ts";
import { anApproval, aNonce, aWatchedRun, withApprovals } from "../make/run.ts";
import { type Attack, attacks } from "./classes.ts";

const FINE = {
  SLACK_BOT_TOKEN: "xoxb-1",
  AGENT_BASE_URL: "http://127.0.0.1:1",
  AGENT_API_KEY: "key-of-agents",
};

const unprotected = attacks<void, readonly [string, string | undefined]>(
  2,
  7,
  [
    ["a start without a secret", undefined],
    ["with an empty one", ""],
    ["with a blank", "   "],
    ["with a short one", "0123456789abcde"],
    ["with a placeholder", "your-signing-secret-here"],
    ["with another placeholder", "<slack_signing_secret>"],
    ['with "changeme"', "changemechangeme"],
    ["with one character over and over", "x".repeat(32)],
    ["with the secret of Slack's documentation", "8f742231b10e8888abcd99yyyzzz85a5"],
    ["with a blank inside", "0123456789 abcdef0123"],
  ],
  (_, [, secret]) => {
    const read = readConfig({ ...FINE, SLACK_SIGNING_SECRET: secret });
    expect(read.ok).toBe(false);
    const report = read.ok ? "" : explainFaults(read.error);
    expect(report).toMatch(/SLACK_SIGNING_SECRET|SLACK_APP_TOKEN/);
    if (secret !== undefined && secret.trim() !== "" && !secret.startsWith("8f74"))
      expect(report).not.toContain(secret);
  },
);

const emptyApprovers = attacks<void, readonly [string, string]>(
  9,
  3,
  [
    ["a policy with no rules", "rules: []"],
    ["a policy with nothing in it", ""],
    ["a rule without approvers", "rules: [{ name: a }]"],
    ["a rule whose approvers are an empty list", "rules: [{ name: a, approvers: [] }]"],
    ["an empty record", "rules: [{ name: a, approvers: {} }]"],
    ["null", "rules: [{ name: a, approvers: null }]"],
    ["an empty list of people", "rules: [{ name: a, approvers: { users: [] } }]"],
    ["an empty list of groups", "rules: [{ name: a, approvers: { groups: [] } }]"],
    ["an empty list of channels", "rules: [{ name: a, approvers: { channels: [] } }]"],
    ["a list of one blank", 'rules: [{ name: a, approvers: { users: [""] } }]'],
  ],
  (_, [, text]) => expect(readPolicy(text, "v").ok).toBe(false),
);

const CANARY = "canary-0123456789abcdef";
const logged = attacks<void, readonly [string, (log: ReturnType<typeof createLog>) => void]>(
  32,
  1,
  [
    ["a bot token in a message", (log) => log.error({}, `failed with xoxb-1-${CANARY}`)],
    ["an app token in a message", (log) => log.error({}, `failed with xapp-1-${CANARY}`)],
    ["a bearer in a header", (log) => log.warn({ headers: { authorization: `Bearer ${CANARY}` } }, "x")],
    ["a field named token", (log) => log.warn({ refresh_token: CANARY }, "x")],
    ["a field named secret", (log) => log.warn({ signing_secret: CANARY }, "x")],
    ["the key in an error", (log) => log.error({ error: new Error(`401 for ${CANARY}`) }, "x")],
    [
      "the key in the cause of an error",
      (log) => log.error({ error: new Error("no", { cause: new Error(CANARY) }) }, "x"),
    ],
    ["the key in an address", (log) => log.warn({ url: `http://x/?key=${CANARY}` }, "x")],
    ["the key deep in a record", (log) => log.warn({ a: { b: [{ c: CANARY }] } }, "x")],
    ["a payload through the SDK's logger", (log) => slackLogger(log).debug("body", { payload: CANARY })],
    [
      "a record through the SDK's logger",
      (log) => slackLogger(log).error("failed", { headers: { authorization: CANARY } }),
    ],
    ["the key in a child's fields", (log) => log.child({ key: CANARY }).warn({}, "x")],
  ],
  (_, [what, write]) => {
    let text = "";
    const destination = { write: (line: string) => void (text += line) };
    // A token is recognized by its shape or by the name of its field, even if it is not in the list of secrets.
    const secrets = /token|bearer|named/.test(what) ? [] : [CANARY];
    write(createLog({ level: "debug", pretty: false, secrets, destination }));
    expect(text).not.toContain(CANARY);
  },
);

const inChannel = attacks<void, readonly [string, string, string]>(
  32,
  13,
  SECRETS.map(
    ([what, text, secret]) => [`${what} in an agent's request, output and status`, text, secret] as const,
  ),
  (_, [, text, secret]) => {
    const run = aWatchedRun(undefined, { input: `use ${text}` });
    const request = requestOf(`use ${text}`, { action: `use ${text}`, more: { deep: [text] } });
    const held = withApprovals(run, { ...anApproval("apr_1"), request });
    const seen = [
      ...[OPENING, cardSlot(ApprovalId("apr_1"))].map((slot) => messageIn(held, slot)),
      messageIn(endedRun(run, { how: "succeeded", output: `it is ${text} now` }), OUTCOME),
      messageIn(endedRun(run, { how: "failed", extra: { detail: text } }), OUTCOME),
      readModal(held, request),
    ];
    expect(JSON.stringify(seen)).not.toContain(secret);
    expect(
      JSON.stringify(formView({ run: held, ticket: { saw: request, verdict: "approve", nonce: aNonce() } })),
    ).toContain(JSON.stringify(secret).slice(1, -1));
  },
);

const ADDRESSES = [
  "http://169.254.169.254/latest/meta-data",
  "http://127.0.0.1:3000/metrics",
  "http://[::1]:3000/",
  "https://hooks.slack.com.evil.example/x",
  "https://hooks.slack.com@evil.example/x",
  "https://user:pass@hooks.slack.com/x",
  "http://hooks.slack.com/x",
  "https://hooks.slack.com:8443/x",
  "https://slack.com/x",
  "//hooks.slack.com/x",
  "file:///etc/passwd",
  "gopher://127.0.0.1:6379/_FLUSHALL",
];
const foreign = attacks<void, readonly [string]>(
  33,
  1,
  ADDRESSES.map((address) => [address] as const),
  async (_, [address]) => {
    expect(isSlackAddress(address, ANSWER_HOSTS, null)).toBe(false);
    expect(isSlackAddress(address, UPLOAD_HOSTS, null)).toBe(false);
    const failed = await failureOf(createResponder(null)(address, { text: "x" }));
    expect(failed).toMatchObject({ code: "foreign_response_url", applied: "no" });
    const replaced = await failureOf(createReplacer(null)(address, { text: "x", blocks: [] }));
    expect(replaced).toMatchObject({ code: "foreign_response_url", applied: "no" });
  },
);

const QUIET = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  setName: () => {},
  getLevel: () => "error" as never,
};

type Redirected = readonly [string, (url: string) => Promise<unknown>];
const service = (baseUrl: string) =>
  createAgentService({ baseUrl, apiKey: () => CANARY, denyWord: "deny", now: Date.now, monotonic: Date.now });
const redirects = attacks<void, Redirected>(
  33,
  13,
  [
    [
      "a read of a run is redirected",
      (url) =>
        service(url)
          .fetchRun(RunId("run_1"))
          .catch(() => null),
    ],
    [
      "a new run is redirected",
      (url) =>
        service(url)
          .create("x", "k")
          .catch(() => null),
    ],
    [
      "a decision is redirected",
      (url) => service(url).sendDecision(RunId("r"), ApprovalId("a"), { verdict: "approve", reason: "" }),
    ],
    ["the health of the service is redirected", (url) => service(url).health()],
    ["the gateway is redirected", (url) => createGateway({ baseUrl: url, monotonic: Date.now }).health()],
    [
      "a call to Slack is redirected",
      (url) =>
        createClients(`xoxb-${CANARY}`, `${url}api/`, QUIET)
          .quick("auth.test", {})
          .catch(() => null),
    ],
    [
      "a post to Slack is redirected",
      (url) =>
        createClients(`xoxb-${CANARY}`, `${url}api/`, QUIET)
          .background("chat.postMessage", { channel: "C1", text: "x" })
          .catch(() => null),
    ],
    [
      "a private answer is redirected",
      (url) => createResponder(`${url}api`)(`${url}response/1`, { text: "x" }).catch(() => null),
    ],
  ],
  async (_, [, call]) => {
    const stranger = await listening();
    const first = await listening((_request, response) =>
      response.writeHead(307, { location: `${stranger.url}stolen` }).end(),
    );
    await call(first.url);
    expect(first.received.length).toBe(1);
    expect(stranger.received).toEqual([]);
  },
);
const keyless = attacks<void, readonly [string, (url: string) => Promise<unknown>]>(
  33,
  21,
  [
    ["the key at the service's open health page", (url) => service(url).health()],
    ["the key at the gateway", (url) => createGateway({ baseUrl: url, monotonic: Date.now }).health()],
  ],
  async (_, [, call]) => {
    const seen: string[] = [];
    const server = await listening((request, response) => {
      seen.push(JSON.stringify(request.headers));
      response.end("{}");
    });
    await call(server.url);
    expect(seen).toHaveLength(1);
    expect(seen.join()).not.toContain(CANARY);
  },
);

const open = attacks<void, readonly [string, Record<string, string>]>(
  33,
  23,
  [
    ["the service's key over http:// to another machine", { AGENT_BASE_URL: "http://agents.example.com" }],
    ["the bot's token over http:// to another machine", { SLACK_API_URL: "http://slack.example.com/api" }],
    ["an address that only looks like this machine's", { AGENT_BASE_URL: "http://127.0.0.1.example.com" }],
  ],
  (_, [, env]) => {
    const well = { AGENT_BASE_URL: "https://agents.example.com", AGENT_API_KEY: "key" };
    const slack = { SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1" };
    expect(readConfig({ ...slack, ...well }).ok).toBe(true);
    expect(readConfig({ ...slack, ...well, ...env }).ok).toBe(false);
  },
);

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
type Package = {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
};
const packages = (): [string, Package][] =>
  Object.entries(
    (JSON.parse(read("package-lock.json")) as { packages: Record<string, Package> }).packages,
  ).filter(([name]) => name !== "");
const manifest = (): {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  scripts: Record<string, string>;
} => JSON.parse(read("package.json")) as never;

const supplied = attacks<void, readonly [string, () => void]>(
  34,
  1,
  [
    [
      "a package without a checksum",
      () => expect(packages().filter(([, { integrity }]) => integrity === undefined)).toEqual([]),
    ],
    [
      "a package from git, a link or a bare address",
      () =>
        expect(
          packages().filter(
            ([, { resolved = "", link }]) =>
              link === true ||
              /^(git|file|github)/.test(resolved) ||
              (resolved !== "" && !resolved.endsWith(".tgz")),
          ),
        ).toEqual([]),
    ],
    [
      "a version that may change by itself",
      () => {
        const { dependencies, devDependencies } = manifest();
        const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
          ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
        );
        expect(loose).toEqual([]);
      },
    ],
    [
      "a script of our own that runs at install",
      () =>
        expect(
          Object.keys(manifest().scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name)),
        ).toEqual([]),
    ],
    [
      "a package with a script of its own that runs at install",
      () => expect(packages().filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]),
    ],
    [
      "an unapproved runtime dependency",
      () => expect(Object.keys(manifest().dependencies).length).toBeLessThanOrEqual(14),
    ],
  ],
  (_, [, attack]) => attack(),
);

const sinks = attacks<void, readonly [string]>(
  33,
  26,
  [["the audit's sink sends its entries and the token elsewhere"]],
  async () => {
    const stranger = await listening();
    const first = await listening((_request, response) =>
      response.writeHead(308, { location: `${stranger.url}stolen` }).end(),
    );
    const sink = openSink({ type: "http", url: `${first.url}in`, token: CANARY });
    const failed = await failureOf(sink.write(["{}\n"]));
    await sink.close();
    expect(String(failed)).not.toContain(CANARY);
    expect(first.received).toHaveLength(1);
    expect(stranger.received).toEqual([]);
  },
);

export const secretCases: readonly Attack[] = [
  ...sinks,
  ...unprotected,
  ...emptyApprovers,
  ...logged,
  ...inChannel,
  ...foreign,
  ...redirects,
  ...keyless,
  ...open,
  ...supplied,
];
