// A complete world for one test: the real app in this process, with the sandbox's Slack and service, over real HTTP and WebSockets.
// Tests act as people and check what people and the service see. They always wait for a state, never for a time.

import { request } from "undici";
import { afterAll, beforeAll, type TestContext, vi } from "vitest";
import { type App, startApp } from "#src/app.ts";
import { explainFaults, readConfig } from "#src/config.ts";
import { type AuditVerdict } from "#src/domain/audit/verify-chain.ts";
import { auditVerdict } from "#src/cli/audit/inspect.ts";
import { openAuditFile } from "#src/adapters/store/audit-file.ts";
import { auditKeyOf } from "#src/adapters/store/audit-key.ts";
import { createLog } from "#src/log.ts";
import type { Timing } from "#sandbox/slack/slack-context.ts";
import { startWorld, type World, type WorldOptions } from "#sandbox/world/world.ts";
import { type Acting, createActing } from "./journey-acts.ts";
import { expectNoCanary } from "./canary.ts";
import { createSight, type Sight } from "./journey-sight.ts";
import { PATIENT, patient } from "./patient.ts";
import { createDatabase, type WorldDatabase } from "./world-database.ts";

// A journey takes many round trips, and some wait several seconds on purpose. Therefore journeys run concurrently.
vi.setConfig({ testTimeout: 120_000, maxConcurrency: 8 });

export const ana = "U0ANA";
export const ben = "U0BEN";
export const cat = "U0CAT";
export const guest = "U0GIL";
export const outsider = "U0ODA";
export const bot = "U0ROTA";
export const opsAgents = "C0OPSAGENTS";
export const releases = "C0RELEASES";
/** A private channel with Ana, Ben and Countersign. */
export const payments = "C0PAYMENTS";
/** A channel without Countersign. */
export const random = "C0RANDOM";

export type Choices = {
  readonly entrance?: "socket" | "http";
  /** With 0, the service does everything that needs no person immediately. */
  readonly tempo?: number;
  readonly profile?: NonNullable<NonNullable<WorldOptions["service"]>["profile"]>;
  readonly rateLimits?: boolean;
  /** The default is `PATIENT`. Use `slackTiming` for tests that check that the app answers within Slack's three seconds. */
  readonly timing?: Partial<Timing>;
  readonly env?: { readonly [name: string]: string };
  /** Whether someone else writes to the database in this test. */
  readonly tampered?: boolean;
  /** Whether this test makes the app log errors or makes Slack refuse a call. */
  readonly troubled?: boolean;
  /** Whether an approval is legitimately decided twice in this test, with different reasons. */
  readonly decidedTwice?: boolean;
};

export type Stage = Acting &
  Sight & {
    readonly world: World;
    readonly slack: World["slack"];
    readonly service: World["service"];
    readonly database: WorldDatabase;
    /** Returns the address of the app's own pages. */
    readonly url: () => string;
    stopApp(): Promise<void>;
    /** Starts the app on the same database, as after a restart. */
    startApp(): Promise<void>;
    /** Reloads the configuration, as on SIGHUP. */
    reload(): Promise<void>;
    /** The app's log, one JSON line per entry. */
    readonly logged: readonly string[];
  };

/** Creates a world for this test. When the test ends, checks what must hold in every test, and stops the world. */
export async function aWorld({ onTestFinished, task }: TestContext, choices: Choices = {}): Promise<Stage> {
  const { stage, end } = await open(choices);
  onTestFinished(() => end(task.result?.state !== "fail"));
  return stage;
}

/** Creates one world for all tests of a file, which must not change it. After the last test, it is checked like any other world. */
export function aSharedWorld(choices: Choices = {}): () => Stage {
  let opened: Opened | null = null;
  beforeAll(async () => {
    opened = await open(choices);
  });
  afterAll(() => opened?.end(true));
  return () => {
    if (opened === null) throw new Error("the world exists only while a test runs");
    return opened.stage;
  };
}

type Opened = { readonly stage: Stage; readonly end: (well: boolean) => Promise<void> };

async function open(choices: Choices): Promise<Opened> {
  const database = await createDatabase();
  const { entrance = "socket", tempo = 0, profile = {}, rateLimits = false, timing = PATIENT } = choices;
  const world = await startWorld({
    port: 0,
    tempo,
    entrance,
    databaseUrl: database.url,
    service: { profile },
    slack: { rateLimits, timing },
  });
  const logged: string[] = [];
  const starter = createStarter(world, database, choices, logged);
  const sight = createSight(world, logged);
  const stage: Stage = {
    ...sight,
    ...createActing(world, sight),
    world,
    slack: world.slack,
    service: world.service,
    database,
    url: () => starter.url(),
    stopApp: starter.stop,
    startApp: starter.start,
    reload: starter.reload,
    logged,
  };
  const end = async (well: boolean): Promise<void> => {
    world.service.control.clearFaults();
    world.slack.faults.clear();
    const metrics = well ? await metricsOf(starter.url()) : "";
    await starter.stop();
    const lines = [...logged];
    const stored = well ? await database.stored() : "";
    const audited = well ? await auditIn(database, choices) : null;
    await world.stop();
    await database.remove();
    if (well) expectSecretsKept(stage, { metrics, stored, log: lines.join("\n") });
    if (well) checkAfterwards(stage, lines, choices);
    if (audited !== null) expectIntact(audited, metrics, choices);
  };
  try {
    await starter.start();
  } catch (error) {
    await end(false);
    throw error;
  }
  return { stage, end };
}

function createStarter(
  world: World,
  database: WorldDatabase,
  { env = {}, entrance = "socket", timing = PATIENT }: Choices,
  logged: string[],
) {
  let app: App | null = null;
  const destination = { write: (line: string) => void logged.push(line.trim()) };
  const log = createLog({ level: "info", pretty: false, destination });
  // Slack's requests need the allocated port. For our own pages alone, any free port will do.
  const port = entrance === "socket" ? { PORT: "0" } : {};
  const quick = { POLL_MIN_MS: "20", POLL_MAX_MS: "100", ...port };
  return {
    url: () => app?.url ?? "",
    start: async (): Promise<void> => {
      const read = readConfig({ ...world.env, ...database.env, ...quick, ...env });
      if (!read.ok) throw new Error(explainFaults(read.error));
      app = await startApp(timing.ackMs === PATIENT.ackMs ? patient(read.value) : read.value, log);
    },
    reload: async (): Promise<void> => app?.reload(),
    stop: async (): Promise<void> => {
      await app?.stop();
      app = null;
    },
  };
}

async function metricsOf(url: string): Promise<string> {
  if (url === "") return "";
  const { body } = await request(new URL("/metrics", url));
  return body.text();
}

/** Verifies the audit. Resolves to null if it was never written or cannot be verified here. */
async function auditIn(database: WorldDatabase, { env = {} }: Choices): Promise<AuditVerdict | null> {
  const configured = env["AUDIT_KEY"];
  const key = configured === undefined ? database.key() : auditKeyOf(configured);
  if (key === null) return null;
  const audit = await openAuditFile(database.place);
  try {
    return await auditVerdict(audit, [key.publicKey], []);
  } finally {
    await audit.close();
  }
}

/** Only the attacker of a test writes to the database, so any other finding is a false alarm or a bug. */
function expectIntact(verdict: AuditVerdict, metrics: string, { tampered = false }: Choices): void {
  if (tampered) return;
  if (!verdict.ok) throw new Error(`the audit does not verify: ${JSON.stringify(verdict)}`);
  const found = /^countersign_tampering_findings ([1-9].*)$/m.exec(metrics);
  if (found !== null) throw new Error(`${found[1] ?? ""} findings of tampering were reported`);
}

/** Checks that tokens, the signing secret and the service's key appear only where they are used. */
function expectSecretsKept({ slack, service }: Stage, texts: { readonly [where: string]: string }): void {
  for (const [where, text] of Object.entries(texts)) expectNoCanary(`in the ${where}`, text);
  const { messages, views } = slack.workspace;
  expectNoCanary("in Slack", JSON.stringify([messages, views]));
  const asked = service.requests.all({}).map(({ path, body }) => ({ path, body }));
  expectNoCanary("in what the service was sent", JSON.stringify(asked));
}

/** Checks what must hold in every test. */
function checkAfterwards(
  stage: Stage,
  logged: readonly string[],
  { troubled = false, decidedTwice = false }: Choices,
): void {
  const contents = new Map<string, string>();
  for (const { path, body } of decidedTwice ? [] : stage.decisionPosts()) {
    const first = contents.get(path) ?? body;
    if (first !== body) throw new Error(`two decisions left for ${path}: ${first} and ${body}`);
    contents.set(path, first);
  }
  const silent = stage.slack.workspace.messages.find((each) => each.blocks.length > 0 && each.text === "");
  if (silent !== undefined)
    throw new Error(`a message has blocks but no text: ${JSON.stringify(silent.blocks)}`);
  if (troubled) return;
  const errors = logged.filter((line) => line.includes('"level":"error"'));
  if (errors.length > 0) throw new Error(`the app logged errors:\n${errors.join("\n")}`);
  // A click that is delivered twice has a trigger that is already used.
  const expected = /^replaced by a fault$|trigger_id$/;
  const refused = stage.slack.traffic
    .lines()
    .find((line) => line.from === "app" && line.refused !== null && !expected.test(line.refused));
  if (refused !== undefined)
    throw new Error(`Slack refused ${refused.what} (${refused.refused}): ${JSON.stringify(refused.detail)}`);
}
