import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { rootCertificates } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { startBot } from "#sandbox/bot/bot-process.ts";
import { MANIFEST, startWorld, type World } from "#sandbox/world/world.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { takeLock } from "#src/adapters/store/process-lock.ts";
import { NEEDED_SCOPES } from "#src/cli/doctor/check-slack.ts";
import { inheritedEnv } from "../make/child-env.ts";
import { anAuditEntry, aRun } from "../make/run.ts";

const OTHER_PROCESS = fileURLToPath(new URL("../adapters/store/other-process.ts", import.meta.url));
const DOCTOR = fileURLToPath(new URL("../../src/cli/doctor.ts", import.meta.url));

let world: World;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-doctor-"));
  world = await startWorld({ databaseUrl: `sqlite:${join(folder, "bot.db")}` });
});

afterEach(async () => {
  await world.stop();
  await rm(folder, { recursive: true, force: true });
});

type Seen = { readonly code: number | null; readonly printed: string };

/** Runs the doctor as a shell does. Expects that no secret of the environment appears in its output. */
async function doctor(
  change: { readonly [name: string]: string } = {},
  [program, ...args]: readonly [string, ...string[]] = [process.execPath],
): Promise<Seen> {
  const env = { ...world.env, ...change };
  const child = spawn(program, [...args, DOCTOR], { env: { ...inheritedEnv(), ...env } });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const secrets = Object.entries(env).filter(
    ([name, value]) => value !== "" && /TOKEN|KEY|SECRET/.test(name),
  );
  expect(secrets.filter(([, value]) => printed.includes(value))).toEqual([]);
  return { code, printed };
}

const wrong = ({ printed }: Seen): string[] =>
  [...printed.matchAll(/^WRONG {2}(.+?) {2,}/gm)].map(([, what]) => what ?? "");

test("a valid set-up is reported as valid, line by line", async () => {
  const seen = await doctor();
  expect(wrong(seen)).toEqual([]);
  expect(seen.code).toBe(0);
  expect(seen.printed.match(/^ok {5}/gm)).toHaveLength(16);
  expect(seen.printed.trimEnd().split("\n").at(-1)).toBe("All is well. To start the bot: npm start");
  expect(seen.printed).toContain("@countersign in Sandbox");
});

test("the doctor posts, creates and decides nothing", async () => {
  await doctor();
  expect(world.service.requests.all().map(({ method }) => method)).toEqual(["GET", "GET", "GET"]);
  expect(world.slack.workspace.messages).toEqual([]);
  expect(world.slack.sockets.connections()).toBe(0);
});

test("all faults of the configuration are reported at once, with exit code 2", async () => {
  const seen = await doctor({ AGENT_BASE_URL: "", PORT: "many", SLACK_BOT_TOKEN: "xoxp-of-a-person" });
  expect(seen.code).toBe(2);
  for (const name of ["AGENT_BASE_URL", "PORT", "SLACK_BOT_TOKEN"]) expect(seen.printed).toContain(name);
});

test("an authority that Node has not loaded, because the variable is in a file of --env-file, is reported", async () => {
  const [certificate, file] = [join(folder, "ca.pem"), join(folder, "bot.env")];
  await writeFile(certificate, rootCertificates[0] ?? "");
  const loaded = await doctor({ NODE_EXTRA_CA_CERTS: certificate });
  expect(wrong(loaded)).toEqual([]);
  await writeFile(file, `NODE_EXTRA_CA_CERTS=${certificate}\n`);
  const seen = await doctor({}, [process.execPath, `--env-file=${file}`]);
  expect(wrong(seen)).toEqual(["Certificates"]);
  expect(seen.printed).toContain("Set it before the command");
});

/** Runs the doctor with a policy that comes through a pipe. */
const doctorOf = (policy: string): Promise<Seen> =>
  doctor({ POLICY_FILE: "/dev/stdin", POLICY: policy }, [
    "sh",
    "-c",
    'printf %s "$POLICY" | "$0" "$1"',
    process.execPath,
  ]);

/** Windows has no such pipes. */
describe.runIf(process.platform !== "win32")("a policy from a pipe", () => {
  const rule = (name: string): string => `  - name: ${name}\n    approvers: anyone\n`;

  test("is read once, with what is doubtful in it", async () => {
    const fine = await doctorOf(`rules:\n${rule("all")}`);
    expect(fine.code).toBe(0);
    expect(fine.printed).toMatch(/^ok {5}Policy .*\/dev\/stdin is valid: .*rules: 1$/m);
    expect(fine.printed).not.toMatch(/^note/m);
    const doubtful = await doctorOf(`rules:\n${rule("all")}${rule("dead")}`);
    expect(doubtful.code).toBe(0);
    expect(doubtful.printed.match(/^note .*/gm)).toEqual([expect.stringMatching(/stdin:4: .*dead/)]);
  });

  test("is reported if it is broken", async () => {
    const seen = await doctorOf("rules: none\n");
    expect(seen.code).toBe(1);
    expect(wrong(seen)).toEqual(["Policy"]);
    expect(seen.printed).toMatch(/^WRONG {2}Policy .*stdin:1.*\n.*→/m);
  });

  test("is left to the start if the pipe has a name, because it can be read only once", async () => {
    const path = join(folder, "policy.yaml");
    spawnSync("sh", ["-c", 'mkfifo "$0"', path]);
    const seen = await doctor({ POLICY_FILE: path });
    expect(seen.code).toBe(0);
    expect(seen.printed).toMatch(/^note {3}Policy .*policy\.yaml is a pipe/m);
  });
});

test("a refused bot token is reported with advice", async () => {
  const seen = await doctor({ SLACK_BOT_TOKEN: "xoxb-that-nobody-issued" });
  expect(seen.code).toBe(1);
  expect(wrong(seen)).toEqual(["Slack bot token", "Slack scopes"]);
  expect(seen.printed).toMatch(/invalid_auth.*\n.*Copy SLACK_BOT_TOKEN again/);
});

test("missing scopes are reported by name", async () => {
  world.slack.faults.revokeScope("files:write");
  world.slack.faults.revokeScope("groups:history");
  const seen = await doctor();
  expect(seen.code).toBe(1);
  expect(wrong(seen)).toEqual(["Slack scopes"]);
  expect(seen.printed).toContain("missing: files:write, groups:history");
});

test("an app token of the wrong kind is reported", async () => {
  const seen = await doctor({ SLACK_APP_TOKEN: "xapp-that-nobody-issued" });
  expect(wrong(seen)).toEqual(["Slack app token"]);
  expect(seen.printed).toContain("connections:write");
});

test("an unreachable Slack is not reported as a refusal", async () => {
  const seen = await doctor({ SLACK_API_URL: "http://127.0.0.1:9/api/" });
  expect(wrong(seen)).toEqual(["Slack bot token", "Slack scopes", "Slack app token"]);
  expect(seen.printed).toContain("Check that this machine can reach Slack");
});

test("in HTTP mode, the signing secret is reported as untested until the first command", async () => {
  const seen = await doctor({ SLACK_APP_TOKEN: "", SLACK_SIGNING_SECRET: world.slack.signingSecret });
  expect(seen.code).toBe(0);
  expect(seen.printed).toMatch(/Slack signing secret +is set; .*\/agent/);
});

test.for(["/dev/null/bot.db", "/dev/null"])(
  "a database that cannot be opened is reported: %s",
  async (path) => {
    const seen = await doctor({ DATABASE_URL: `sqlite:${path}` });
    expect(seen.code).toBe(1);
    expect(wrong(seen)).toEqual(["Database"]);
  },
);

const database = (): string => join(folder, "bot.db");

/** Returns everything in the folder: names, modes, modification times and bytes. */
async function everything(): Promise<unknown[]> {
  const names = (await readdir(folder, { recursive: true })).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const { mode, mtimeMs } = await stat(path);
      return [name, mode, mtimeMs, (await stat(path)).isFile() ? (await readFile(path)).toString("hex") : ""];
    }),
  );
}

async function written(auditKey: string | null = null): Promise<void> {
  const store = await openStore({ url: `sqlite:${database()}`, owner: "test", auditKey });
  await store.audit([anAuditEntry(aRun())]);
  await store.close();
}

function inDatabase(sql: string): void {
  const raw = new DatabaseSync(database());
  raw.exec(sql);
  raw.close();
}

const OTHER_KEY = Buffer.alloc(32, 9).toString("base64");
const PERHAPS_LOST =
  /note {3}Database .*the first start will .*\n.*If Countersign ran before with this AUDIT_KEY/;

test.for<[string, () => unknown, RegExp, { AUDIT_KEY: string }?]>([
  ["missing, with AUDIT_KEY", () => undefined, PERHAPS_LOST, { AUDIT_KEY: OTHER_KEY }],
  ["empty, with AUDIT_KEY", () => writeFile(database(), ""), PERHAPS_LOST, { AUDIT_KEY: OTHER_KEY }],
  ["missing", () => undefined, /ok {5}Database .*does not exist yet/],
  [
    "missing beside its key",
    async () => {
      await written();
      await rm(database());
    },
    /WRONG {2}Database .*is missing or empty, but its audit key \S+bot\.db\.audit-key is there/,
  ],
  [
    "emptied beside its key",
    async () => {
      await written();
      await writeFile(database(), "");
    },
    /WRONG {2}Database .*is missing or empty, but its audit key \S+bot\.db\.audit-key is there/,
  ],
  ["new", () => written(), /ok {5}Database .*can be read and written$/m],
  [
    "signed by a key that is not here",
    () => written(OTHER_KEY),
    /WRONG {2}Audit key +the audit is signed with the key [0-9a-f]{32}, and \S+bot\.db\.audit-key is gone/,
  ],
  [
    "of an older schema",
    async () => {
      await written();
      inDatabase("update schema_version set version = 0");
    },
    /ok {5}Database .*the next start will migrate its schema from 0 to \d+/,
  ],
  [
    "of a newer schema",
    async () => {
      await written();
      inDatabase("update schema_version set version = 99");
    },
    /WRONG {2}Database .*a newer Countersign has written it/,
  ],
  [
    "another program's",
    () => inDatabase("create table songs (title text)"),
    /WRONG {2}Database .*another program/,
  ],
  [
    "empty",
    () => writeFile(database(), ""),
    /ok {5}Database .*is empty: Countersign has written nothing to it yet; the first start will create its tables/,
  ],
  [
    "without a table",
    () => inDatabase("vacuum"),
    /ok {5}Database .*is empty: Countersign has written nothing to it yet/,
  ],
  [
    "no database",
    () => writeFile(database(), "not a database ".repeat(99)),
    /WRONG {2}Database .*not a database/,
  ],
  [
    "killed with its log behind",
    async () => {
      const bot = startBot({ ...world.env, LOG_LEVEL: "warn" });
      await bot.ready();
      await bot.end("SIGKILL");
    },
    /ok {5}Database .*can be read and written$/m,
  ],
])(
  "a database that is %s is examined without changing a byte of the folder",
  async ([, prepare, says, env]) => {
    await prepare();
    const before = await everything();
    const seen = await doctor(env);
    expect(seen.printed).toMatch(says);
    expect(seen.code).toBe(wrong(seen).length === 0 ? 0 : 1);
    expect(await everything()).toEqual(before);
  },
);

/**
 * Ignores the shared memory of the database, in which each reader leaves a note (sqlite.org/walformat.html). It contains no stored data.
 */
const allButSharedMemory = async (): Promise<unknown[]> =>
  (await everything()).filter((each) => !(Array.isArray(each) && String(each[0]).endsWith("-shm")));

/** Resolves to what the doctor says while another process has the database open. */
async function seenWhileLocked(...command: Parameters<typeof doctor>): Promise<Seen> {
  // A separate process, because a process that closes a file releases all of its own locks on that file.
  const other = spawn(process.execPath, [OTHER_PROCESS, "hold", `sqlite:${database()}`]);
  await once(other.stdout, "data");
  const before = await allButSharedMemory();
  const seen = await doctor(...command);
  expect(await allButSharedMemory()).toEqual(before);
  other.kill("SIGKILL");
  await once(other, "close");
  return seen;
}

test("a database that another process has locked is reported, and no stored byte is changed", async () => {
  const { printed } = await seenWhileLocked();
  // Only Linux shows which process holds a lock.
  const who = existsSync("/proc/locks") ? /process \d+/ : /another process/;
  const todo =
    "If that is the bot in another container, all is well.*silent for two minutes.*restart the bot";
  expect(printed).toMatch(new RegExp(`WRONG {2}Database .*is locked by ${who.source}.*\\n.*${todo}`));
});

const isRoot = process.getuid?.() === 0;
/** Starts a program among processes of its own, as in a container. */
const APART = ["unshare", ...(isRoot ? [] : ["--map-root-user"]), "--pid", "--fork", "--mount-proc"] as const;
const canPart = spawnSync(APART[0], [...APART.slice(1), "true"]).status === 0;

test.runIf(canPart)("a database that a process outside its container has locked is reported", async () => {
  const { printed } = await seenWhileLocked({}, [...APART, process.execPath]);
  expect(printed).toMatch(/WRONG {2}Database .*is locked by another process, and no bot answers/);
});

test("a locked database of an older schema is reported with what the next start does to it", async () => {
  await written();
  inDatabase("update schema_version set version = 0");
  const lock = takeLock(database(), 0);
  const { printed } = await doctor();
  lock.release();
  expect(printed).toMatch(/is locked by .*; the next start will migrate its schema from 0 to \d+/);
});

test("a database that the running bot holds is reported as good", async () => {
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn" });
  await bot.ready();
  const seen = await doctor();
  await bot.end("SIGKILL");
  expect(wrong(seen)).toEqual([]);
  expect(seen.printed).toContain("is in use by the bot at");
  expect(seen.printed.trimEnd().split("\n").at(-1)).toMatch(/^All is well\. The bot at \S+ is running\.$/);
});

test("a running bot with another database is not mistaken for ours, because a start would not get the port", async () => {
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn" });
  await bot.ready();
  const seen = await doctor({ DATABASE_URL: `sqlite:${join(folder, "other.db")}` });
  await bot.end("SIGKILL");
  expect(wrong(seen)).toEqual(["Database"]);
  expect(seen.printed).toMatch(/does not use \S+other\.db\n.*Set PORT to another number/);
});

test("a refused key is distinguished from an unreachable service", async () => {
  world.service.control.rotateKey();
  const refused = await doctor();
  expect(wrong(refused)).toEqual(["Agent service key"]);
  expect(refused.printed).toContain("Set AGENT_API_KEY");
  await world.service.control.down();
  const away = await doctor();
  expect(wrong(away)).toEqual(["Agent service", "Agent service key"]);
  expect(away.printed).toContain("Check AGENT_BASE_URL");
});

test("a gateway that does not answer is reported", async () => {
  await world.gateway.stop();
  const seen = await doctor();
  expect(seen.code).toBe(1);
  expect(wrong(seen)).toEqual(["Token gateway"]);
});

test("text from the other side is printed on one line, with its control characters spelled out", async () => {
  const message = "key\u001b[2J\nrefused";
  const body = { error: { code: "unauthorized", message } };
  world.service.control.fault({ route: "read-run" }, { type: "answer", status: 403, body });
  const { printed } = await doctor();
  expect(printed).not.toContain("\u001b");
  expect(printed).toContain("key⟨U+001B⟩[2J refused");
});

test("a key that the service repeats in another encoding is masked", async () => {
  const AGENT_API_KEY = "canary-%41!$0123456789";
  const written = [
    AGENT_API_KEY,
    Buffer.from(AGENT_API_KEY).toString("hex"),
    encodeURIComponent(AGENT_API_KEY),
  ];
  const body = { error: { code: "unauthorized", message: written.join(" ") } };
  for (const _ of [1, 2])
    world.service.control.fault({ route: "read-run" }, { type: "answer", status: 403, body });
  const { printed } = await doctor({ AGENT_API_KEY });
  expect(printed).toContain("masked");
  for (const each of written) expect(printed).not.toContain(each);
});

test("the checked scopes are those of the manifest", async () => {
  const manifest = parse(await readFile(MANIFEST, "utf8")) as {
    oauth_config: { scopes: { bot: string[] } };
  };
  expect([...NEEDED_SCOPES].sort()).toEqual(manifest.oauth_config.scopes.bot.sort());
});
