// A PostgreSQL server for tests. It uses the machine's own programs and its own folder, which is removed when the tests end in any way.

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
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Client } from "pg";
import { freePort } from "#sandbox/bot/free-port.ts";

/** PostgreSQL refuses to run as root, so root becomes "nobody". */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
export const SERVER_USER = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

export type PostgresServer = {
  /** Creates an empty database, and resolves to its URL. */
  database(): Promise<string>;
  /** Runs one statement, or several without values, bypassing the store. */
  run(url: string, sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** The folder of its socket. */
  readonly folder: string;
  readonly port: number;
  /** Returns what it has logged so far. */
  log(): string;
  /** Ends it at once, like a crash. The data stays. */
  kill(): Promise<void>;
  /** Makes a standby a primary. */
  promote(): Promise<void>;
  /** Starts it again on the same data. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

export type ServerOptions = {
  /** Lines of postgresql.conf, such as "max_connections=20". */
  readonly settings?: readonly string[];
  /** Also listen on 127.0.0.1. */
  readonly tcp?: true;
  /** Creates files in the data folder before the server starts. */
  readonly prepare?: (data: string) => void;
  /** Start a standby of this server. */
  readonly standbyOf?: PostgresServer;
};

/** The number in the name of the socket. Sockets do not collide, because each is in its own folder. */
const USUAL_PORT = 5_432;
/** How long to wait until the server answers (ms). */
const START_MS = 20_000;

/** Starts a server. Rejects with an error that says what to install if the machine has no PostgreSQL. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) for (const each of [folder, data]) chownSync(each, NOBODY, NOBODY);
  const [program, words] = options.standbyOf === undefined ? INIT : copied(options.standbyOf);
  execFileSync(join(binaries(), program), [...words, "-D", data], {
    ...SERVER_USER,
    cwd: folder,
    stdio: "ignore",
  });
  options.prepare?.(data);
  const port = options.tcp === true ? await freePort() : USUAL_PORT;
  const urlOf = (name: string): string => `postgres://postgres@localhost:${port}/${name}?host=${folder}`;
  let child: Running | null = null;
  const start = async (): Promise<void> => {
    child = keptServer(
      { folder, data, port, host: options.tcp === true ? "127.0.0.1" : "" },
      options.settings,
    );
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
      await child?.end("SIGQUIT");
    },
    async promote() {
      await run(urlOf("postgres"), "select pg_promote()");
    },
    start,
    async stop() {
      await child?.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const INIT = ["initdb", ["-U", "postgres", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8"]] as const;

/** The command that creates a copy that follows its origin. */
const copied = ({ folder, port }: PostgresServer) =>
  [
    "pg_basebackup",
    ["-h", folder, "-p", String(port), "-U", "postgres", "-R", "-c", "fast", "--no-sync"],
  ] as const;

/** `end` sends the signal, by default the usual signal of the program. */
type Running = { readonly keeper: ChildProcess; end(signal?: NodeJS.Signals): Promise<void> };

/**
 * A shell between the tests and the program. Its standard input closes when the test process ends, even if it is killed. Then the shell
 * ends the program and removes the folder.
 */
const KEEPER = `
  folder=$1 log=$2 usual=$3; shift 3
  "$@" >>"$log" 2>&1 </dev/null &
  read -r signal
  kill -s "\${signal:-$usual}" $!
  wait $!
  if [ -z "$signal" ]; then rm -rf "$folder"; fi
`;

type Program = {
  readonly folder: string;
  readonly log: string;
  readonly usual: NodeJS.Signals;
  readonly command: readonly string[];
};

function keep({ folder, log, usual, command }: Program): Running {
  const words = [folder, log, usual.slice(3), ...command];
  const keeper = spawn("/bin/sh", ["-c", KEEPER, "keeper", ...words], {
    ...SERVER_USER,
    cwd: folder,
    stdio: ["pipe", "ignore", "ignore"],
  });
  return {
    keeper,
    async end(signal = usual) {
      if (keeper.exitCode !== null) return;
      const gone = once(keeper, "exit");
      keeper.stdin.end(`${signal.slice(3)}\n`);
      await gone;
    },
  };
}

type Place = { readonly folder: string; readonly data: string; readonly port: number; readonly host: string };

function keptServer({ folder, data, port, host }: Place, settings: readonly string[] = []): Running {
  // Flushes cost time, and no test cuts the machine's power.
  const all = ["fsync=off", "shared_buffers=16MB", "max_connections=60", ...settings];
  const where = ["-D", data, "-k", folder, "-p", String(port), "-h", host];
  const command = [join(binaries(), "postgres"), ...where, ...all.flatMap((each) => ["-c", each])];
  // INT is a fast shutdown, which does not wait for clients.
  return keep({ folder, log: join(folder, "log"), usual: "SIGINT", command });
}

export type Bouncer = {
  /** Returns the URL of the same database through PgBouncer. */
  through(url: string): string;
  stop(): Promise<void>;
};

/** Starts PgBouncer in transaction mode in front of the server, with fewer connections than its clients have. */
export async function startPgBouncer(server: PostgresServer): Promise<Bouncer> {
  const { folder } = server;
  const ini = join(folder, "pgbouncer.ini");
  const own = mkdtempSync(join(tmpdir(), "bouncer-"));
  if (isRoot) chownSync(own, NOBODY, NOBODY);
  const settings = `
[databases]
* = host=${folder} port=${server.port} user=postgres
[pgbouncer]
listen_addr =
listen_port = ${USUAL_PORT}
unix_socket_dir = ${own}
auth_type = any
pool_mode = transaction
default_pool_size = 3
`;
  writeFileSync(ini, settings, { mode: 0o644 });
  const program = ["/usr/sbin", ...(process.env["PATH"] ?? "").split(delimiter)]
    .map((each) => join(each, "pgbouncer"))
    .find(isProgram);
  if (program === undefined)
    throw new Error(
      "This test needs PgBouncer, which is not installed. Install it: apt-get install pgbouncer",
    );
  const running = keep({ folder: own, log: join(own, "log"), usual: "SIGKILL", command: [program, ini] });
  await answering(`postgres://postgres@localhost/postgres?host=${own}`, running);
  return {
    through: (url) =>
      url.replace(/localhost:\d+/, `localhost:${USUAL_PORT}`).replace(/host=.*/, `host=${own}`),
    async stop() {
      await running.end();
      rmSync(own, { recursive: true, force: true });
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
  const client = new Client({
    host,
    port: Number(port || USUAL_PORT),
    user: "postgres",
    database: pathname.slice(1),
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Debian installs the server's programs outside PATH. */
const DEBIAN = "/usr/lib/postgresql";

/** The folder with `initdb` and `postgres` of the newest version. */
function binaries(): string {
  const versions = listed(DEBIAN).toSorted((a, b) => Number(b) - Number(a));
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...versions.map((version) => join(DEBIAN, version, "bin")),
  ];
  const found = folders.find((each) => isProgram(join(each, "postgres")) && isProgram(join(each, "initdb")));
  // PATH may contain links to only some of the programs. The others are next to the targets of the links.
  if (found !== undefined) return dirname(realpathSync(join(found, "postgres")));
  throw new Error(
    "These tests need PostgreSQL, but neither PATH nor /usr/lib/postgresql has its programs. Install them: apt-get install postgresql",
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
