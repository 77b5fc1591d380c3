// A world whose bot is several replicas on one PostgreSQL database. The owner of the run is killed or suspended and stays so, and another
// replica takes over.

import { randomBytes } from "node:crypto";
import { auditVerdict, openAuditFile, publicKeysFor } from "#src/cli/audit/inspect.ts";
import type { Bot, Replica } from "#sandbox/bot/replicas.ts";
import type { Timing } from "#sandbox/slack/slack-context.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import type { PostgresServer } from "../make/postgres.ts";
import { type Environment, FAST, type Lane, quiet } from "./lane.ts";

export type ReplicaLane = Lane & {
  readonly bot: Bot;
  /** Returns the replica that was last killed or suspended. */
  readonly struck: () => Replica;
  /** Acts that Slack could not deliver, as people were told. */
  readonly refused: readonly string[];
};

export type Strikes = "kill" | "pause";

/** Only a bug makes this take longer (ms). */
const TAKEN_MS = 30_000;
const ASK_EVERY_MS = 20;

type Choices = {
  readonly replicas: number;
  /** What `kill` does to the owner of the only unfinished run. */
  readonly strikes?: Strikes;
  readonly entrance?: "socket" | "http";
  /** Slack's time limits. The default is its real ones, so that a late answer is a fault like any other. */
  readonly timing?: Partial<Timing>;
  /** Further variables of each bot, or a function that changes its variables. */
  readonly env?: Environment | ((base: Environment) => Environment);
};

export async function startReplicaLane(
  server: Pick<PostgresServer, "database" | "run">,
  { replicas, strikes = "kill", entrance = "socket", timing = {}, env = {} }: Choices,
): Promise<ReplicaLane> {
  const database = await server.database();
  const key = randomBytes(32).toString("base64");
  const changed = (base: Environment): Environment => {
    const all = { ...base, ...FAST, AUDIT_KEY: key };
    return typeof env === "function" ? env(all) : { ...all, ...env };
  };
  const started = await startWorld({
    databaseUrl: database,
    tempo: 0,
    entrance,
    slack: { rateLimits: false, timing },
    bot: { env: changed, replicas },
  });
  const refused: string[] = [];
  const world = noting(started, refused);
  const { bot } = world;
  if (bot === null) throw new Error("the world has no bot");
  const ready = bot.ready().then(() => evenShares(bot, (sql) => server.run(database, sql)));
  await ready;
  const reading = async <Value>(
    read: (audit: Awaited<ReturnType<typeof openAuditFile>>) => Promise<Value>,
  ) => {
    const audit = await openAuditFile(database);
    try {
      return await read(audit);
    } finally {
      await audit.close();
    }
  };
  let struck: Replica | null = null;
  let before = 0;
  return {
    world,
    bot,
    refused,
    struck: () => struck ?? bot.replicas[0] ?? never(),
    up: () => ready,
    kill: async () => {
      before = newest(world);
      struck = await holderOf(bot);
      if (strikes === "pause") struck.pause();
      else await struck.stop("SIGKILL");
    },
    restart: async () => {
      const taken = (): boolean =>
        world.service.requests.after(before).some(({ route }) => route === "read-run");
      await world.service.requests.until(taken, { timeoutMs: TAKEN_MS });
    },
    audit: () => reading((audit) => auditVerdict(audit, publicKeysFor({ database, key }, []), [])),
    entries: () =>
      reading(async (audit) => (await Array.fromAsync(audit.rows())).map(({ columns }) => columns.what)),
    findings: () =>
      reading(async (audit) =>
        (await Array.fromAsync(audit.rows()))
          .filter(({ columns }) => columns.what === "tampering-found")
          .map(({ text }) => text),
      ),
    quiet: () => quiet(world),
    stop: async () => {
      if (struck?.state() === "paused") struck.resume();
      await bot.stop("SIGKILL");
      await world.stop();
    },
  };
}

/**
 * Waits until each replica has its share of the shards. The first one up takes all, and gives the others theirs up to a second later.
 * A run that moved then, in the middle of a life, would be polled by a replica whose polls no test holds, and might end too early.
 */
async function evenShares(
  { replicas }: Bot,
  run: (sql: string) => Promise<readonly Record<string, unknown>[]>,
): Promise<void> {
  for (const end = performance.now() + TAKEN_MS; performance.now() < end;) {
    const holders = await run("select holder from shards where holder is not null group by holder");
    if (holders.length === replicas.length) return;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  throw new Error("the shards are not shared by all replicas");
}

const newest = ({ service }: World): number => service.requests.all().at(-1)?.number ?? 0;

const never = (): never => {
  throw new Error("there is no replica");
};

/** Waits until a replica owns the run, which may just be moving from one to another. */
async function holderOf({ replicas }: Bot): Promise<Replica> {
  for (const end = performance.now() + TAKEN_MS; performance.now() < end;) {
    const watched = await Promise.all(replicas.map(({ metric }) => metric("countersign_runs_watched")));
    const holders = replicas.filter((_, nth) => (watched[nth] ?? 0) > 0);
    const [holder] = holders;
    if (holder !== undefined && holders.length === 1) return holder;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  throw new Error("no replica, or more than one, owns the run");
}

/** Returns why the app did not get the newest of the payloads that were lost, and after how long. */
function undelivered({ slack }: World): string {
  const line = slack.traffic.lines().findLast(({ lost }) => lost);
  return line === undefined
    ? "delivered"
    : `${line.refused} after ${line.ms} ms: ${JSON.stringify(line.detail)}`;
}

/** Returns the same world, but records acts that could not be delivered. */
function noting(world: World, refused: string[]): World {
  const { acts } = world.slack;
  const noted = <Args extends readonly unknown[], Told extends { readonly ok: boolean }>(
    what: string,
    act: (...args: Args) => Promise<Told>,
  ) => {
    return async (...args: Args): Promise<Told> => {
      const delivery = await act(...args);
      if (!delivery.ok) refused.push(`${what}: ${JSON.stringify(delivery)}, ${undelivered(world)}`);
      return delivery;
    };
  };
  const ours = {
    ...acts,
    command: noted("a command", (...args: Parameters<typeof acts.command>) => acts.command(...args)),
    click: noted("a click", (...args: Parameters<typeof acts.click>) => acts.click(...args)),
    submit: noted("a submit", (...args: Parameters<typeof acts.submit>) => acts.submit(...args)),
  };
  return { ...world, slack: { ...world.slack, acts: ours } };
}
