// Sends mutated and unsigned requests to the real app in HTTP mode, and a few valid ones. Only the valid ones may be accepted.

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startApp } from "#src/app.ts";
import { explainFaults, readConfig } from "#src/config.ts";
import { createLog } from "#src/log.ts";
import { startWorld } from "#sandbox/world/world.ts";
import { type Chance, chanceOf } from "../make/chance.ts";
import { knockOn, requestOf } from "./knock.ts";
import { KINDS, SPOILS, wholes } from "./mutations.ts";

export type Result = {
  readonly sent: number;
  /** The number of valid requests. Each must have been accepted. */
  readonly controls: number;
  readonly controlsTaken: number;
  /** For each way of spoiling, how many requests got which answer. */
  readonly kinds: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The number of requests that passed the verifier, by the store's own list of signatures. */
  readonly passed: number;
  /** The number of effects found in the service, the database, the audit and the channels. */
  readonly effects: number;
};

type Options = { readonly size: number; readonly seed: number; readonly atOnce?: number };
/** One valid request is sent after this many spoiled ones. */
const CONTROL_EVERY = 500;

export async function campaign({ size, seed, atOnce = 32 }: Options): Promise<Result> {
  const ground = await open();
  const chance = chanceOf(seed);
  const kinds = new Map<string, Map<string, number>>(KINDS.map((name) => [name, new Map()]));
  let [sent, controls, controlsTaken] = [0, 0, 0];
  let taken: Buffer | null = null;

  const control = async (): Promise<void> => {
    controls += 1;
    const bytes = requestOf({ body: ground.help() }, ground.secret);
    const { status } = await knockOn(ground.url, bytes);
    if (status === 200) controlsTaken += 1;
    taken = bytes;
  };
  const attack = async (): Promise<void> => {
    sent += 1;
    const kind = KINDS[chance.below(KINDS.length)] ?? "";
    const bytes = spoilRequest(kind, chance, ground) ?? taken;
    if (bytes === null) throw new Error("there is nothing to replay yet");
    const { status } = await knockOn(ground.url, bytes);
    const answers = kinds.get(kind);
    const answer = status === null ? "closed" : String(status);
    answers?.set(answer, (answers.get(answer) ?? 0) + 1);
  };

  try {
    await control();
    const more = (): boolean => sent < size;
    const worker = async (): Promise<void> => {
      while (more())
        await (sent % CONTROL_EVERY === CONTROL_EVERY - 1 ? Promise.all([control(), attack()]) : attack());
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    return { sent, controls, controlsTaken, kinds, ...(await ground.close()) };
  } finally {
    await ground.close();
  }
}

type Ground = Awaited<ReturnType<typeof open>>;

function spoilRequest(kind: string, by: Chance, { ids, secret }: Ground): Buffer | null {
  const spoil = SPOILS[kind];
  return spoil === undefined ? null : requestOf(spoil(by.of(wholes(ids)), by, secret), secret);
}

async function open() {
  const path = join(tmpdir(), `countersign-campaign-${randomBytes(8).toString("hex")}.db`);
  const world = await startWorld({ port: 0, tempo: 0, entrance: "http", databaseUrl: `sqlite:${path}` });
  const read = readConfig({ ...world.env });
  if (!read.ok) throw new Error(explainFaults(read.error));
  const app = await startApp(read.value, createLog({ level: "silent", pretty: false }));
  const { team, app: self } = world.slack.workspace;
  const ids = { team: team.id, app: self.id, user: "U0ANA", channel: "C0OPSAGENTS" };
  let found: Pick<Result, "passed" | "effects"> | null = null;
  return {
    ids,
    url: app.url,
    secret: world.slack.signingSecret,
    help: () =>
      new URLSearchParams({
        command: "/agent",
        text: "help",
        team_id: ids.team,
        api_app_id: ids.app,
        user_id: ids.user,
        channel_id: ids.channel,
        trigger_id: `1.2.${randomBytes(6).toString("hex")}`,
        response_url: `${world.slack.url}response/T0SANDBOX/none`,
      }).toString(),
    /** May be called twice. */
    close: async (): Promise<Pick<Result, "passed" | "effects">> => {
      if (found !== null) return found;
      await app.stop();
      const told =
        world.service.requests.all({ method: "POST" }).length + world.slack.workspace.messages.length;
      found = {
        passed: count(path, "seen_requests"),
        effects: told + count(path, "audit") + count(path, "runs"),
      };
      await world.stop();
      for (const ending of ["", "-wal", "-shm", ".audit-key"]) await rm(path + ending, { force: true });
      return found;
    },
  };
}

function count(path: string, table: "seen_requests" | "audit" | "runs"): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    // Entries about the program's own start are not effects of a request.
    const where = table === "audit" ? "where what not in ('program-started', 'policy-loaded')" : "";
    return Number(database.prepare(`select count(*) as n from ${table} ${where}`).get()?.["n"]);
  } finally {
    database.close();
  }
}
