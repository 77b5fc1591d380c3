// A PostgreSQL server for tests: the machine's own programs, a folder of its own, gone when the tests end, however they end.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  accessSync,
  chownSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";

/** PostgreSQL refuses to run as root, so root becomes "nobody". */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
export const SERVER_USER = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

export type PostgresServer = {
  /** The URL of a new, empty database. */
  database(): Promise<string>;
  /** Runs one statement, or several without values, past the store. */
  run(url: string, sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** The folder of its socket, and its port there. */
  readonly folder: string;
  readonly port: number;
  /** What it has logged so far. */
  log(): string;
  /** Ends it at once, as a crash does; the data stay. */
  kill(): Promise<void>;
  /** Starts it again on the same data. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

export type ServerOptions = {
  /** Lines of postgresql.conf, such as "max_connections=20". */
  readonly settings?: readonly string[];
  /** It listens on 127.0.0.1 too. */
  readonly tcp?: true;
  /** Makes files in the folder of the data before the server starts. */
  readonly prepare?: (data: string) => void;
};

/** A number in the name of the socket, which stands in a folder of its own. */
const USUAL_PORT = 5_432;
/** Waits this long for the server to answer (ms). */
const START_MS = 20_000;

/** Throws, and says what to install, where the machine has no PostgreSQL. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) for (const each of [folder, data]) chownSync(each, NOBODY, NOBODY);
  const initdb = ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8"];
  execFileSync(join(binaries(), "initdb"), initdb, { ...SERVER_USER, cwd: folder, stdio: "ignore" });
  options.prepare?.(data);
  const port = options.tcp === true ? await freePort() : USUAL_PORT;
  const urlOf = (name: string): string => `postgres://postgres@localhost:${port}/${name}?host=${folder}`;
  let child: Running | null = null;
  const start = async (): Promise<void> => {
    child = spawned({ folder, data, port, host: options.tcp === true ? "127.0.0.1" : "" }, options.settings);
    await answering(urlOf("postgres"), child);
  };
  await start();
  return {
    folder,
    port,
    async database() {
      const name = `t${randomUUID().replaceAll("-", "")}`;
      await run(urlOf("postgres"), `create database ${name}`);
      return urlOf(name);
    },
    run,
    log: () => readFileSync(join(folder, "log"), "utf8"),
    async kill() {
      await child?.end("kill");
    },
    start,
    async stop() {
      await child?.end("stop");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Running = { readonly keeper: ChildProcess; end(how: "stop" | "kill"): Promise<void> };

/**
 * A shell stands between, and reads its input, which ends when the process of the tests ends, even if it is killed. Then the shell ends
 * the server and removes the folder.
 */
const KEEPER = `
  "$1" -D "$2" -k "$3" -p "$4" -h "$5" $6 >>"$3/log" 2>&1 &
  read -r how
  case "$how" in kill) kill -s QUIT $! ;; *) kill -s INT $! ;; esac
  wait $!
  case "$how" in "") rm -rf "$3" ;; esac
`;

type Place = { readonly folder: string; readonly data: string; readonly port: number; readonly host: string };

function spawned({ folder, data, port, host }: Place, settings: readonly string[] = []): Running {
  // Flushes cost time, and no test pulls the plug of the machine.
  const all = ["fsync=off", "shared_buffers=16MB", "max_connections=60", ...settings];
  const given = all.map((each) => `-c ${each}`).join(" ");
  const places = [join(binaries(), "postgres"), data, folder, String(port), host, given];
  const keeper = spawn("/bin/sh", ["-c", KEEPER, "keeper", ...places], {
    ...SERVER_USER,
    cwd: folder,
    stdio: ["pipe", "ignore", "inherit"],
  });
  return {
    keeper,
    async end(how) {
      if (keeper.exitCode !== null) return;
      const gone = once(keeper, "exit");
      keeper.stdin.end(`${how}\n`);
      await gone;
    },
  };
}

async function answering(url: string, { keeper }: Running): Promise<void> {
  for (const until = performance.now() + START_MS; ;) {
    try {
      await run(url, "select 1");
      return;
    } catch (error) {
      if (performance.now() > until || keeper.exitCode !== null)
        throw new Error("the PostgreSQL of the tests did not start", { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function run(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  const client = new Client({ host, port: Number(port), user: "postgres", database: pathname.slice(1) });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

/** Debian keeps the server's programs out of PATH. */
const DEBIAN = "/usr/lib/postgresql";

/** The folder with `initdb` and `postgres`, of the newest version. */
function binaries(): string {
  const versions = listed(DEBIAN).toSorted((a, b) => Number(b) - Number(a));
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...versions.map((version) => join(DEBIAN, version, "bin")),
  ];
  const found = folders.find((each) => isProgram(join(each, "postgres")) && isProgram(join(each, "initdb")));
  if (found !== undefined) return found;
  throw new Error(
    "These tests need the programs of PostgreSQL, and neither PATH nor /usr/lib/postgresql has them. Install them: apt-get install postgresql",
  );
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
