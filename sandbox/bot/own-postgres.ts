// The sandbox's own PostgreSQL server, for several replicas. It uses the installed programs, a new temporary folder, a loopback port and a
// new password. Nothing is kept when it stops.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { searchPath } from "./bot-process.ts";
import { freePort } from "./free-port.ts";

export type Postgres = {
  /** The connection URL, including the password. */
  readonly url: string;
  /** Resolves when the server has stopped and its folder is removed. May be called more than once. */
  readonly stop: () => Promise<void>;
};

const WITH_PARENT = fileURLToPath(new URL("postgres-with-parent.ts", import.meta.url));
const USER = "countersign";
/** PostgreSQL refuses to run as root. This is the id of the unprivileged user on Linux. */
const UNPRIVILEGED = 65_534;
/** Where Debian and Ubuntu install the server's programs, outside PATH, with one folder for each version. */
const DEBIAN = "/usr/lib/postgresql";
/** A time limit that only a fault exceeds (ms). */
const READY_MS = 60_000;
const KEPT_CHARS = 20_000;

const MISSING = `PostgreSQL is not installed on this machine: "initdb" and "postgres" are neither in PATH nor in ${DEBIAN}/*/bin.
Install it (Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql), or leave out --postgres.`;

/** Starts a server. Calls `say` if the server stops by itself. */
export async function startPostgres(say: (words: string) => void): Promise<Postgres> {
  const programs = programsFolder(searchPath());
  const folder = await mkdtemp(join(tmpdir(), "countersign-postgres-"));
  try {
    return await startIn(folder, programs, say);
  } catch (error) {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    throw error;
  }
}

/** Returns the folder with the server's programs. Throws an error that says what to install if there is none. */
export function programsFolder(path: string, debian: string = DEBIAN): string {
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const newestFirst = versions.toSorted((one, other) => Number(other) - Number(one));
  const folders = [
    ...path.split(delimiter).filter((folder) => folder !== ""),
    ...newestFirst.map((version) => join(debian, version, "bin")),
  ];
  const found = folders.find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")),
  );
  if (found === undefined) throw new Error(MISSING);
  return found;
}

async function startIn(folder: string, programs: string, say: (words: string) => void): Promise<Postgres> {
  const id = process.getuid?.() === 0 ? UNPRIVILEGED : null;
  const data = join(folder, "data");
  const password = randomBytes(24).toString("hex");
  await createCluster({ folder, programs, id, data, password });
  const port = await freePort();
  // The data is deleted with the sandbox, so the server need not wait for the disk.
  const settings = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=off",
    "full_page_writes=off",
  ];
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const server = spawn(
    process.execPath,
    [WITH_PARENT, folder, id === null ? "-" : String(id), join(programs, "postgres"), ...args],
    // A separate session, so that Ctrl-C reaches only the sandbox, which stops the replicas first.
    { env: { PATH: searchPath() }, stdio: ["pipe", "ignore", "pipe"], detached: true },
  );
  const exited = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  let expected = false;
  const stop = (): Promise<void> => {
    expected = true;
    server.stdin?.end();
    return exited;
  };
  await untilReady(server).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  server.once("exit", () => {
    if (!expected) say("PostgreSQL has stopped, so the replicas cannot save anything. Restart the sandbox.");
  });
  return { url: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`, stop };
}

type Cluster = {
  readonly folder: string;
  readonly programs: string;
  readonly id: number | null;
  readonly data: string;
  readonly password: string;
};

async function createCluster({ folder, programs, id, data, password }: Cluster): Promise<void> {
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (id !== null) for (const path of [folder, passwordFile]) await chown(path, id, id);
  const choices = ["--locale=C", "--encoding=UTF8", "--no-sync", "--no-instructions"];
  const access = ["-A", "scram-sha-256", "-U", USER, `--pwfile=${passwordFile}`];
  const user = id === null ? {} : { uid: id, gid: id };
  await promisify(execFile)(join(programs, "initdb"), ["-D", data, ...choices, ...access], {
    cwd: "/",
    env: { PATH: searchPath() },
    ...user,
  }).catch((error: unknown) => {
    throw new Error(`PostgreSQL could not be set up: ${wordsOf(error)}`, { cause: error });
  });
  await rm(passwordFile);
}

/** Resolves when the server accepts connections. Rejects, with what it printed, if it ends before or on a timeout. */
function untilReady(server: ChildProcess): Promise<void> {
  let printed = "";
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (why: string): void => reject(new Error(`PostgreSQL ${why}:\n${printed.trim()}`));
  const timer = setTimeout(() => fail("was not ready in time"), READY_MS);
  server.stderr?.on("data", (text: Buffer) => {
    printed = (printed + text.toString("utf8")).slice(-KEPT_CHARS);
    // The server's messages are in English, because its locale is C.
    if (printed.includes("database system is ready to accept connections")) resolve();
  });
  server.once("exit", () => fail("did not start"));
  return promise.finally(() => clearTimeout(timer));
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
