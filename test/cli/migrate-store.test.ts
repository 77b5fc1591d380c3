// `npm run migrate-store` with an installation in use: cards and a form are open when it moves, and are decided afterwards.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startBot } from "#sandbox/bot/bot-process.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { startWorld } from "#sandbox/world/world.ts";
import { auditKeyFile, auditKeyOf } from "#src/adapters/store/audit-key.ts";
import { accepted } from "../make/journey-acts.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { openPostgres, POSTGRES } from "#src/adapters/store/postgres.ts";
import { migrate, MIGRATIONS } from "#src/adapters/store/schema.ts";
import { ChannelId, shardOf, TeamId } from "#src/domain/ids.ts";
import { GOLDEN_KEY, restore } from "../adapters/store/golden/load.ts";
import { inheritedEnv } from "../make/child-env.ts";
import { PATIENT } from "../make/patient.ts";
import { type PostgresServer, startPostgres } from "../make/postgres.ts";
import { runCommand } from "../make/run-command.ts";
import { anApproval, anAuditEntry, aRun, CHANNEL, withApprovals } from "../make/run.ts";
import { spoil } from "../make/spoil.ts";

const COMMAND = fileURLToPath(new URL("../../src/cli/migrate-store.ts", import.meta.url));

let server: PostgresServer;
let folder = "";
let file = "";
let url = "";

beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "move-"));
  file = join(folder, "bot.db");
  url = await server.database();
});
afterEach(() => rmSync(folder, { recursive: true }));

type Seen = { readonly code: number | null; readonly out: string };

function started(
  env: { readonly [name: string]: string } = {},
  args = [`sqlite:${file}`, url],
): ChildProcess {
  return spawn(process.execPath, [COMMAND, ...args], { env: { ...inheritedEnv(), ...env } });
}

async function move(
  env: { readonly [name: string]: string } = {},
  args = [`sqlite:${file}`, url],
): Promise<Seen> {
  const child = started(env, args);
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out };
}

/** Returns every file of the installation, byte for byte. */
const state = (): string[] =>
  readdirSync(folder)
    .filter((name) => !name.endsWith(".lock"))
    .toSorted()
    .map(
      (name) =>
        `${name} ${createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex")}`,
    );

const seed = (): string => readFileSync(auditKeyFile(file), "utf8").trim();

/** Creates a stopped installation with a few runs, one of which has ended. */
async function installation(): Promise<void> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  for (let nth = 0; nth < 5; nth += 1) {
    const run = withApprovals(
      aRun({ input: "a long text\u0000".repeat(4_000) }),
      anApproval(`odd\u0000id ${nth}`),
    );
    await store.insert(run, { intention: `command ${nth}`, audit: [anAuditEntry(run)] });
  }
  await store.markSeen("a request", Date.now(), 60_000);
  await store.close();
  // Programs with a fractional clock wrote such times.
  const raw = new DatabaseSync(file);
  raw.exec("update runs set created_at = created_at + 0.25, changed_at = changed_at + 0.25");
  raw.close();
}

test("cards and forms that are open during the move are decided afterwards, once each, in one audit", async () => {
  const slack = { rateLimits: false, timing: PATIENT };
  const world = await startWorld({ databaseUrl: `sqlite:${file}`, slack, tempo: 0 });
  const { workspace, acts } = world.slack;
  const block = (card: Message): string => card.blocks.find(({ type }) => type === "actions")?.block_id ?? "";
  const isOpen = ({ blocks, broadcast }: Message): boolean =>
    broadcast && JSON.stringify(blocks).includes('"action_id":"card_approve"');
  const openForm = async (card: Message, person: string): Promise<string> => {
    await acts.click(person, { channel: card.channel, ts: card.ts }, block(card), "card_approve");
    const shown = () => workspace.viewsOf(person)[0];
    const { id, view } = await workspace.until(shown, { timeoutMs: 10_000, what: "a form" });
    if (view["callback_id"] === "decision_modal") return id;
    // A card is visible a moment before the bot has Slack's answer for it, and on a busy machine a look-up may time out.
    await acts.close(person, id);
    return openForm(card, person);
  };
  const submit = async (person: string, form: string): Promise<void> =>
    accepted(await acts.submit(person, form, { reason: { reason_text: "The numbers are right." } }));
  const decisions = () => world.service.requests.all({ route: "decide" });
  try {
    const before = startBot({ ...world.env, LOG_LEVEL: "warn" });
    await before.ready();
    const run = world.service.control.createRun("release forever");
    for (const part of ["one", "two"])
      world.service.control.addApproval(run.id, {
        action: `Deploy part ${part}`,
        details: { tool: "deploy" },
      });
    await acts.command("U0ANA", "C0OPSAGENTS", "/agent", `watch ${run.id}`);
    const open = () => workspace.messages.filter(isOpen);
    await workspace.until(() => open().length === 2, { timeoutMs: 30_000, what: "two cards" });
    const [first, second] = open() as [Message, Message];
    const form = await openForm(first, "U0BEN");
    expect((await move()).out).toContain("stop it first");
    await before.end("SIGTERM");

    const filesBefore = state();
    const moved = await move();
    expect(moved).toMatchObject({
      code: 0,
      out: expect.stringContaining("The audit arrived intact") as unknown,
    });
    expect(moved.out).not.toContain(seed());
    expect(state()).toEqual(filesBefore);

    const env = { DATABASE_URL: url, AUDIT_KEY: seed() };
    const after = startBot({ ...world.env, ...env, LOG_LEVEL: "warn" });
    await after.ready();
    await submit("U0BEN", form);
    await workspace.until(() => decisions().length === 1, { timeoutMs: 15_000, what: "the first decision" });
    await submit("U0CAT", await openForm(second, "U0CAT"));
    await workspace.until(() => decisions().length === 2, { timeoutMs: 15_000, what: "the second decision" });
    await workspace.until(() => open().length === 0, { timeoutMs: 30_000, what: "no open card" });
    await after.end("SIGTERM");
    expect(new Set(decisions().map(({ path }) => path)).size).toBe(2);

    const store = await openStore({ url, owner: "test", auditKey: seed() });
    expect(await store.walkAudit()).toBeNull();
    expect(await store.checkSeals()).toEqual([]);
    await store.close();
  } finally {
    await world.stop();
  }
});

test("a back-up of the old file fails once it is moved away as the command says, and the key that stays refuses a start", async () => {
  await installation();
  const { out } = await move();
  expect(out).toMatch(
    /Replace the back-up job with pg_dump, and move .*bot\.db, with its -wal and -shm .*leave .*bot\.db\.audit-key/,
  );
  mkdirSync(join(folder, "old"));
  renameSync(file, join(folder, "old", "bot.db"));
  const backup = await runCommand("backup", [join(folder, "copy.db")], {
    env: { DATABASE_URL: `sqlite:${file}` },
  });
  expect(backup).toMatchObject({ code: 2, err: expect.stringContaining("there is no such file") as unknown });
  expect(existsSync(join(folder, "copy.db"))).toBe(false);
  await expect(openStore({ url: `sqlite:${file}`, owner: "test" })).rejects.toThrow("its audit key");
});

test("every stored state arrives unchanged", async () => {
  restore(MIGRATIONS.length, file).close();
  // As in a file of 0.1.0 since its migration.
  spoil(file, "update runs set shard = 0");
  const moved = await move({ AUDIT_KEY: GOLDEN_KEY });
  expect(moved).toMatchObject({ code: 0 });
  const rows = await server.run(url, "select team, channel, shard from runs");
  for (const { team, channel, shard } of rows)
    expect(shard).toBe(shardOf({ team: TeamId(String(team)), channel: ChannelId(String(channel)) }));
  expect(moved.out).toContain("As before, the stored run");
  const [source, target] = await Promise.all(
    [`sqlite:${file}`, url].map((each) =>
      openStore({ url: each, owner: "test", auditKey: GOLDEN_KEY, now: () => 0 }),
    ),
  );
  if (source === undefined || target === undefined) throw new Error("a store was not opened");
  const all = { channels: [CHANNEL], only: "all", limit: 1_000 } as const;
  expect(await target.list(all)).toEqual(await source.list(all));
  expect(await target.notifications(100)).toEqual(await source.notifications(100));
  expect(await target.auditHead()).toEqual(await source.auditHead());
  expect(await target.walkAudit()).toBeNull();
  await Promise.all([source.close(), target.close()]);
});

test("a schema that this program does not write is refused", async () => {
  restore(1, file).close();
  // A bot that has used the file leaves its lock.
  writeFileSync(`${file}.lock`, "");
  expect(await move({ AUDIT_KEY: GOLDEN_KEY })).toMatchObject({
    code: 2,
    out: expect.stringContaining("start the bot once") as unknown,
  });
});

test("a key that does not sign the audit now is refused, because no bot could start on the copy", async () => {
  await installation();
  const other = Buffer.alloc(32, 7).toString("base64");
  const seen = await move({ AUDIT_KEY: other });
  expect(seen.code).toBe(2);
  for (const seedOf of [seed(), other]) expect(seen.out).toContain(auditKeyOf(seedOf).id);
  expect(seen.out).toContain("Nothing was moved");
});

test("an interrupted move leaves nothing and succeeds when repeated, and another repetition changes nothing", async () => {
  await installation();
  const db = await openPostgres(url);
  await migrate(db, POSTGRES);
  await db.destroy();
  await server.run(
    url,
    `create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(60); return new; end';
     create trigger slow before insert on seen_requests for each row execute function slow()`,
  );
  const child = started();
  const asleep =
    "select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
  await expect.poll(() => server.run(url, asleep), { timeout: 20_000 }).toHaveLength(1);
  child.kill("SIGKILL");
  await once(child, "close");
  await server.run(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'",
  );
  await server.run(url, "drop trigger slow on seen_requests");
  expect(await server.run(url, "select count(*)::int as runs from runs")).toEqual([{ runs: 0 }]);

  expect(await move()).toMatchObject({ code: 0 });
  expect(await server.run(url, "select count(*)::int as runs from runs")).toEqual([{ runs: 5 }]);
  expect(await move()).toMatchObject({
    code: 0,
    out: expect.stringContaining("nothing was changed") as unknown,
  });
});

test("a target that contains another installation is refused and not changed", async () => {
  await installation();
  const other = await openStore({ url, owner: "other", auditKey: GOLDEN_KEY });
  await other.audit([anAuditEntry(aRun())]);
  await other.close();
  const seen = await move();
  expect(seen).toMatchObject({ code: 2, out: expect.stringContaining("it is not empty") as unknown });
  expect(await server.run(url, "select count(*)::int as rows from audit")).toEqual([{ rows: 1 }]);
});

test("a target of another program is refused and not changed", async () => {
  await installation();
  await server.run(url, "create table songs (title text)");
  const seen = await move();
  expect(seen).toMatchObject({
    code: 2,
    out: expect.stringContaining("it is the database of another program") as unknown,
  });
  expect(
    await server.run(url, "select table_name from information_schema.tables where table_schema = 'public'"),
  ).toEqual([{ table_name: "songs" }]);
});

test("an audit that was tampered with is not moved", async () => {
  await installation();
  const raw = new DatabaseSync(file);
  raw.exec("drop trigger audit_refuses_update");
  raw.exec("update audit set entry = replace(entry, 'stored', 'other') where seq = 2");
  raw.close();
  expect(await move()).toMatchObject({
    code: 1,
    out: expect.stringContaining("TAMPERED at entry 2") as unknown,
  });
  expect(
    await server.run(url, "select table_name from information_schema.tables where table_schema = 'public'"),
  ).toEqual([]);
});

test("the target may come from DATABASE_URL, and a missing key or a wrong address is reported without the password", async () => {
  await installation();
  const secret = url.replace("postgres@", "postgres:canary@");
  const elsewhere = secret.replace(/host=.*/, "host=/nowhere");
  const failed = await move({ DATABASE_URL: elsewhere }, [`sqlite:${file}`]);
  expect(failed).toMatchObject({ code: 2, out: expect.stringContaining("cannot be reached") as unknown });
  expect(await move({}, [`sqlite:${file}`, `sqlite:${file}2`])).toMatchObject({ code: 2 });
  const moved = await move({ DATABASE_URL: secret }, [`sqlite:${file}`]);
  expect(moved).toMatchObject({ code: 0 });
  expect(failed.out + moved.out).not.toContain("canary");
  rmSync(auditKeyFile(file));
  expect((await move()).out).toContain("There is no key to verify the audit with");
});
