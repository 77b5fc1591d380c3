// Plants every fault that an operator is likely to make in a valid set-up. The doctor finds the fault and says what to do, or says that it
// cannot be detected from here. It never says "All is well" if `npm start` would refuse.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { startApp } from "#src/app.ts";
import { type Diagnosis, diagnose } from "#src/cli/doctor/examine.ts";
import { loadConfig } from "#src/load-config.ts";
import { createLog } from "#src/log.ts";
import { makeRefused } from "../make/certificates.ts";
import { inheritedEnv } from "../make/child-env.ts";
import { SERVER_USER } from "../make/postgres.ts";
import {
  CONFIGURATION,
  type Env,
  type Here,
  MACHINE,
  NOTES,
  type Plant,
  PROGRAM,
  SERVICE,
  UNKNOWABLE,
} from "./planted-faults.ts";
import { SLACK } from "./planted-slack-faults.ts";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const DOCTOR = at("../../src/cli/doctor.ts");
const OTHER_PROCESS = at("../adapters/store/other-process.ts");

let world: World;
let folder: string;
let servers: Server[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-faults-"));
  world = await startWorld({ databaseUrl: `sqlite:${join(folder, "bot.db")}` });
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function listening(server: Server): Promise<string> {
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const here = (): Here => ({
  world,
  database: join(folder, "bot.db"),
  file: (name, content) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  },
  server: async (listener) => `http://${await listening(createServer(listener))}`,
  refusedOverTls: async (certificate) => {
    const tls = makeRefused(folder, certificate);
    return `https://${await listening(createSecureServer(tls, (_, response) => response.end("{}")))}`;
  },
  changedSlack: async (method, change) =>
    `http://${await listening(createServer(passedOn(method, change)))}/api/`,
});

type Change = Parameters<Here["changedSlack"]>[1];

const passedOn =
  (method: string, change: Change): RequestListener =>
  (request, response) => {
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const answer = async (): Promise<void> => {
      const body = Buffer.concat((await request.toArray()) as Buffer[]);
      const headers = {
        "content-type": request.headers["content-type"] ?? "",
        authorization: `Bearer ${token}`,
      };
      const real = await fetch(new URL(request.url ?? "/", world.slack.url), {
        method: "POST",
        headers,
        body,
      });
      const said = request.url === `/api/${method}` ? await change(real, token) : real;
      const told = [...said.headers].filter(([name]) => /^(x-|content-type|date)/.test(name));
      response.writeHead(said.status, Object.fromEntries(told));
      response.end(await said.text());
    };
    void answer();
  };

async function diagnosis(plant: Plant): Promise<Diagnosis> {
  const change = (await plant(here())) ?? {};
  return diagnose({ ...world.env, ...change });
}

/** Returns the finding and its advice, as printed. */
const linesAbout = ({ lines }: Diagnosis, label: string, what: string): string => {
  const index = lines.findIndex((line) => line.startsWith(`${label}  ${what} `));
  return index < 0 ? "" : (lines[index] ?? "");
};

/** Starts Countersign, stops it again, and resolves to whether it started. */
async function starts(env: Env): Promise<boolean> {
  const read = await loadConfig(env);
  if (!read.ok) return false;
  const log = createLog({ level: "silent", pretty: false });
  try {
    await (await startApp(read.value, log)).stop();
    return true;
  } catch {
    return false;
  }
}

describe("the doctor agrees with a start", () => {
  test.each([...CONFIGURATION, ...MACHINE])("which is refused when %s", async (_fault, plant) => {
    const env = { ...world.env, ...(await plant(here())) };
    expect((await diagnose(env)).code).toBeGreaterThan(0);
    expect(await starts(env)).toBe(false);
  });

  test.each([...NOTES, ...UNKNOWABLE].map(([fault, plant]) => [fault, plant] as const))(
    "which succeeds although %s",
    async (_fault, plant) => {
      const env = { ...world.env, ...(await plant(here())) };
      expect((await diagnose(env)).code).toBe(0);
      expect(await starts(env)).toBe(true);
    },
  );
});

describe("a fault of the configuration is reported, with exit code 2", () => {
  test.each(CONFIGURATION)("%s", async (_fault, plant, variable, says) => {
    const { code, lines } = await diagnosis(plant);
    expect(code).toBe(2);
    expect(lines.join("\n")).toMatch(new RegExp(`^ {2}${variable} .*${says.source}`, "m"));
  });
});

describe("a fault is reported, with advice", () => {
  test.each([...PROGRAM, ...SLACK, ...MACHINE, ...SERVICE])("%s", async (_fault, plant, what, says) => {
    const found = await diagnosis(plant);
    expect(linesAbout(found, "WRONG", what)).toMatch(says);
    expect(linesAbout(found, "WRONG", what)).toContain("→");
    expect(found.code).toBe(1);
    expect(found.lines.at(-1)).toMatch(/^\d+ of \d+ checks failed\.$/);
  });
});

describe("a likely mistake is noted, and Countersign starts", () => {
  test.each(NOTES)("%s", async (_fault, plant, what, says) => {
    const found = await diagnosis(plant);
    expect(found.code).toBe(0);
    expect(found.lines.join("\n")).toMatch(new RegExp(`note {3}${what} .*${says.source}`));
    expect(found.lines.at(-1)).toMatch(
      /^Nothing is wrong; read the (note|\d+ notes) above\. To start the bot: npm start$/,
    );
  });
});

describe("what cannot be detected from here is said to be so", () => {
  test.each(UNKNOWABLE)("%s", async (_fault, plant, shows) => {
    const { code, lines } = await diagnosis(plant);
    expect(code).toBe(0);
    expect(lines.join("\n")).toMatch(shows);
  });
});

describe.each([
  ["socket", 3_600_000, /is (3599|360[01]) s behind Slack's$/m],
  ["socket", -90_000, /is (89|9[01]) s ahead of Slack's$/m],
  ["http", 3_600_000, /behind Slack's, so every request from Slack is refused/],
] as const)("in %s mode, a clock that is %i ms behind Slack's", (entrance, aheadMs, says) => {
  test("is reported", async () => {
    await world.stop();
    const now = (): number => Date.now() + aheadMs;
    world = await startWorld({ databaseUrl: `sqlite:${join(folder, "bot.db")}`, entrance, slack: { now } });
    const found = await diagnosis(() => undefined);
    expect(linesAbout(found, "WRONG", "Clock")).toMatch(says);
  });
});

test("a database that is used by another process, while no bot answers, is reported", async () => {
  const other = spawn(process.execPath, [OTHER_PROCESS, "hold", `sqlite:${join(folder, "bot.db")}`]);
  await once(other.stdout, "data");
  const found = await diagnosis(() => undefined);
  other.kill("SIGKILL");
  await once(other, "close");
  expect(found.lines.join("\n")).toMatch(
    process.platform === "linux" ? /WRONG {2}Database .*locked by process/ : /Database/,
  );
});

/** Windows has no ordinary user for this. */
describe.runIf(process.platform !== "win32")("a file that refuses the bot's user", () => {
  const { uid: user = process.getuid?.() ?? 0, gid: group } = SERVER_USER;
  let lock = "";
  beforeEach(async () => {
    await (await openStore({ url: `sqlite:${join(folder, "bot.db")}`, owner: "test" })).close();
    lock = join(folder, "bot.db.lock");
    if (group === undefined) return;
    for (const name of ["", ...readdirSync(folder)]) chownSync(join(folder, name), user, group);
  });

  /** Resolves to the doctor's line about this subject, and its advice. */
  async function told(what = "Database", change: Env = {}): Promise<string> {
    const env: Env = { ...inheritedEnv(), ...world.env, ...change };
    const child = spawn(process.execPath, [DOCTOR], { env, cwd: folder, ...SERVER_USER });
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    await once(child, "close");
    return new RegExp(`^WRONG {2}${what} .*\\n.*$`, "m").exec(printed)?.[0] ?? printed;
  }

  test.runIf(group !== undefined)("is to be given to that user", async () => {
    chownSync(lock, 0, 0);
    const said = await told();
    expect(said).toContain(`this user may not write to ${lock}`);
    expect(said).toContain(`chown ${user} ${lock}`);
    expect(said).not.toContain("DATABASE_URL");
  });

  test("is to be made writable, if it belongs to that user", async () => {
    chmodSync(lock, 0o400);
    const said = await told();
    expect(said).toContain(`chmod u+rw ${lock}`);
    expect(said).not.toContain("DATABASE_URL");
  });

  test.each([
    [0o200, "file"],
    [0o400, "file"],
    [0o200, "folder"],
  ] as const)("with the mode %o, is reported if it is the %s of the audit's copy", async (mode, which) => {
    const copies = join(folder, "copies");
    const copy = join(copies, "audit.jsonl");
    mkdirSync(copies);
    if (which === "file") writeFileSync(copy, "");
    const refusing = which === "file" ? copy : copies;
    if (group !== undefined) for (const each of new Set([copies, refusing])) chownSync(each, user, group);
    chmodSync(refusing, mode);
    const said = await told("Audit sink", { AUDIT_SINK: `file:${copy}` });
    expect(said).toMatch(/^WRONG {2}Audit sink .*EACCES/);
    expect(said).toContain(refusing);
  });

  test.runIf(group !== undefined).each([
    [0o755, "let it write to"],
    [0o700, "let it use the folder of the database"],
  ])("is the folder, with the mode %o: the advice is not another database", async (mode, says) => {
    chownSync(folder, 0, 0);
    chmodSync(folder, mode);
    const said = await told();
    expect(said).toContain(says);
    expect(said).not.toContain("DATABASE_URL");
  });
});

const own = process.getuid?.() === 0 ? ["--mount"] : ["--mount", "--map-root-user"];
const canMount = spawnSync("unshare", [...own, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

describe.runIf(canMount)("a disk", () => {
  beforeEach(async () => {
    await (await openStore({ url: `sqlite:${join(folder, "bot.db")}`, owner: "test" })).close();
  });

  /** Resolves to what the doctor prints if the folder is on a disk of its own, which exists only for this call. */
  async function told(size: string, prepare: string, change: Env = {}): Promise<string> {
    const script = `mount -t tmpfs -o size=${size} tmpfs ${folder} && ${prepare} exec "$0" "$@"`;
    const env: Env = { ...inheritedEnv(), ...world.env, ...change };
    const child = spawn("unshare", [...own, "sh", "-c", script, process.execPath, DOCTOR], { env });
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    await once(child, "close");
    return printed;
  }

  test("that is nearly full is reported", async () => {
    expect(await told("20M", "")).toMatch(/WRONG {2}Disk +\d+ MiB are free .*\n.*Free some space/);
  });

  test("that is full, and has the temporary folder too, is reported twice: both need space", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "countersign-kept-"));
    cpSync(folder, elsewhere, { recursive: true });
    const fill = `cp ${elsewhere}/* ${folder} && mkdir ${folder}/tmp; cat /dev/zero > ${folder}/rest;`;
    const printed = await told("2M", fill, { TMPDIR: join(folder, "tmp") });
    rmSync(elsewhere, { recursive: true });
    expect(printed).toMatch(
      /WRONG {2}Temporary folder .* its disk is full.*\n.*Free space there, or set TMPDIR/,
    );
    expect(printed).toMatch(/WRONG {2}Disk +0 MiB are free .*\n.*Free some space/);
  });
});

test("more than 45 faults are planted", () => {
  expect([CONFIGURATION, PROGRAM, SLACK, MACHINE, SERVICE, NOTES, UNKNOWABLE].flat().length).toBeGreaterThan(
    45,
  );
});
