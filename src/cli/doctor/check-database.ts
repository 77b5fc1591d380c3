// Checks whether the database is usable, and what a start would do to it. Only reads: it creates no file, migrates no schema and writes
// no entry.

import { existsSync, realpathSync, statfsSync, type Stats, statSync } from "node:fs";
import { auditKeyFile, auditKeyOf, readAuditKey } from "../../adapters/store/audit-key.ts";
import {
  type DatabaseState,
  examineDatabase,
  existingFolder,
} from "../../adapters/store/examine-database.ts";
import { examineServer } from "../../adapters/store/examine-server.ts";
import { NEWEST_SCHEMA } from "../../adapters/store/schema.ts";
import { FILE_GONE, LOCK_GONE } from "../../adapters/store/sqlite.ts";
import { shown } from "../../adapters/store/database-copy.ts";
import type { Config } from "../../config.ts";
import { type RunningBot, STUCK } from "./check-port.ts";
import { bad, type Finding, good, note } from "./finding.ts";

const DATABASE = "Database";
const AUDIT_KEY = "Audit key";
const DISK = "Disk";

const MiB = 1024 * 1024;
/** Enough for several busy days of approvals. */
const MIN_FREE_BYTES = 64 * MiB;

export async function checkDatabase(config: Config, bot: RunningBot | null): Promise<Finding[]> {
  const { database } = config;
  if (database.engine === "postgres") return checkServer(database.url, config.audit.key);
  return checkFile(database.path, config.audit.key, bot);
}

/** Returns whether the findings say that the database is gone from its place. A bot that still runs may then have the only copy. */
export const saysLost = (findings: readonly Finding[]): boolean =>
  findings.some(({ todo }) => todo === SAVE_FIRST || todo === LOST);

/** What to do, by the words of the error. */
const TODOS: readonly (readonly [RegExp, string])[] = [
  [/newer Countersign/, "Start that version, or restore the copy from before the upgrade."],
  [/another program/, "Set DATABASE_URL to a database that only Countersign uses."],
  [/not a database|damaged/, "Keep the file, restore a backup, and check the disk."],
  [/full/, "Free space on that disk."],
  [/belongs to user/, "Run the doctor and the bot as the same user, or give that user the files."],
  [/clock is wrong/, "Renew that certificate, or correct the clock."],
  [/server cannot be reached/, "Check DATABASE_URL, and that the server is up."],
];
const OWN_KEY = "Put the right file there, readable and writable by this user.";
const ONLY_COPIES = "npm start does not need it; the doctor and npm run audit do.";
const LOST =
  "If a bot that used it still runs, do not stop it. Put the database or a backup back, or correct DATABASE_URL; until then, a start is refused. If you want an empty database, move the key file to another folder.";
/** A start cannot tell a new installation from a lost database if there is no key file that a start made. */
const PERHAPS_LOST =
  "For a new installation, there is nothing to do. If Countersign ran before with this AUDIT_KEY, do not start it: its database is lost or elsewhere, and a start would begin an empty one without its freezes, stops and unsent decisions. Correct DATABASE_URL, or restore a backup (docs/backup.md).";
const SAVE_FIRST =
  "Do not stop the bot: as long as it runs, the system keeps the file. docs/operate.md says under CountersignStoreFailing how to put it back.";
/** The doctor's DATABASE_URL need not be that of the bot. The write-ahead log must have moved too, because it has the newest entries. */
const ifMoved = (path: string): string =>
  `If \`ls -l /proc/PID/fd\` shows that the bot has ${path} and ${path}-wal open, and neither as deleted, someone moved the database there: restart the bot with this DATABASE_URL.`;
const RESTART =
  "Restart the bot with the DATABASE_URL that it has: its database is in place, and a start makes the lock file again.";
const IF_LOCKED = `If that is the bot in another container, all is well: in an upgrade, stop it before the new version starts. If the bot runs here, look at its log, and run the doctor with the bot's HOST and PORT. If the doctor has them already and the log has been silent for two minutes (half an hour at the first start after an upgrade), ${STUCK} If that process is not the bot, stop it.`;
const OWN_FOLDER = "Set DATABASE_URL to a file in a folder that this user may write to.";
const NOTHING_YET = "Countersign has written nothing to it yet";
const AS_THE_BOT = "Run the doctor as the bot's user.";
const REACH_SERVER = "Check DATABASE_URL, and that the server accepts this machine and this user.";
const SAFE_SERVER =
  "Turn these settings on, and connect to the primary as the owner of the database. Otherwise decisions can be lost.";

function unusable(error: unknown, defaultTodo: string): Finding {
  const says = error instanceof Error ? error.message : String(error);
  if (says.includes("TMPDIR")) {
    const todo = says.includes("disk is full") ? "Free space there, or set TMPDIR" : "Make it writable";
    return bad("Temporary folder", says, `${todo}. ${ONLY_COPIES}`);
  }
  if (says.includes("audit's key")) return bad(AUDIT_KEY, says, OWN_KEY);
  return bad(DATABASE, says, TODOS.find(([pattern]) => pattern.test(says))?.[1] ?? defaultTodo);
}

async function checkFile(path: string, key: string | null, bot: RunningBot | null): Promise<Finding[]> {
  try {
    const lost = bot === null ? null : lostFinding(path, bot);
    if (lost !== null) return [lost, checkDisk(path)];
    const state = await examineDatabase(path);
    return [fileFinding(path, state, bot, key), ...checkKey(state, key, path), checkDisk(path)];
  } catch (error) {
    return [unusable(error, closedTodo(path, error)), ...diskIfKnown(path)];
  }
}

/** An installation that exists is not sent to another place: a start would create an empty database there. */
function closedTodo(path: string, error: unknown): string {
  const closed = error instanceof Error ? /may not write to (.+)$/.exec(error.message)?.[1] : undefined;
  if (closed === undefined) return OWN_FOLDER;
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return OWN_FOLDER;
    return `${AS_THE_BOT} ${toOpen(closed, statSync(closed))}`;
  } catch {
    return `${AS_THE_BOT} If this is that user, let it use the folder of the database.`;
  }
}

function toOpen(path: string, found: Stats): string {
  const me = process.getuid?.();
  if (found.isDirectory())
    return `If this is that user, let it write to ${path}, where files are created beside the database.`;
  if (me === undefined) return `If this is that user, let it read and write ${path}.`;
  return me === found.uid
    ? `If this is that user, make the file writable: chmod u+rw ${path}`
    : `If this is that user, give it the file: chown ${me} ${path}`;
}

/** Returns null unless the bot reports that a file which it has open is gone from its place. No advice may lead to a blind restart. */
function lostFinding(path: string, { url, troubles }: RunningBot): Finding | null {
  const reports = (words: string): boolean => troubles.some((each) => each.includes(words));
  if (reports(FILE_GONE)) {
    const says = `the bot at ${url} reports that its database file was deleted or replaced`;
    return bad(
      DATABASE,
      says,
      existsSync(path) ? `${SAVE_FIRST} ${ifMoved(realpathSync(path))}` : SAVE_FIRST,
    );
  }
  if (!reports(LOCK_GONE)) return null;
  const says = `the bot at ${url} records nothing, because its lock file was deleted or replaced`;
  return bad(DATABASE, says, RESTART);
}

function fileFinding(
  path: string,
  state: DatabaseState,
  bot: RunningBot | null,
  seed: string | null,
): Finding {
  const who = state.holder === null ? "another process" : `process ${state.holder}`;
  if (!state.free && !existsSync(path))
    return bad(DATABASE, `the file that ${who} has open as its database is gone from ${path}`, SAVE_FIRST);
  if (bot !== null && state.free) {
    const says = `another Countersign runs at ${bot.url}, and it does not use ${path}`;
    return bad(
      DATABASE,
      says,
      "Set PORT to another number, or DATABASE_URL to the database of that Countersign.",
    );
  }
  if (!state.free && bot === null) {
    const says = `${path} is locked by ${who}, and no bot answers at HOST and PORT${nextStart(state)}`;
    return bad(DATABASE, says, IF_LOCKED);
  }
  const key = auditKeyFile(path);
  if (state.type === "missing" && existsSync(key))
    return bad(DATABASE, `${path} is missing or empty, but its audit key ${key} is there`, LOST);
  if (state.type === "missing") {
    const [is, what] = existsSync(path)
      ? [`is empty: ${NOTHING_YET}`, "its tables"]
      : ["does not exist yet", "it"];
    const says = `${path} ${is}; the first start will create ${what}, and is allowed to`;
    return seed === null ? good(DATABASE, says) : note(DATABASE, says, PERHAPS_LOST);
  }
  return good(
    DATABASE,
    `${path} can be read and written${nextStart(state)}${bot === null ? "" : inUse(bot)}`,
  );
}

const inUse = ({ url }: RunningBot): string => `; it is in use by the bot at ${url}`;

const nextStart = ({ type, schema }: Pick<DatabaseState, "type" | "schema">): string =>
  type === "older"
    ? `; the next start will migrate its schema from ${schema} to ${NEWEST_SCHEMA}, and older versions will refuse it from then on`
    : "";

/** A start refuses any key but the one that signed the audit last. */
function checkKey(
  { head }: Pick<DatabaseState, "head">,
  seed: string | null,
  path: string | null,
): Finding[] {
  const file = path === null ? "" : auditKeyFile(path);
  const keyBeside = () => (path === null ? null : readAuditKey(path));
  const key = seed === null ? keyBeside() : auditKeyOf(seed);
  const from = seed === null ? file : "AUDIT_KEY";
  if (key === null && head === null)
    return [good(AUDIT_KEY, `there is none yet; the first start will create it in ${file}`)];
  if (key === null)
    return [
      bad(
        AUDIT_KEY,
        `the audit is signed with the key ${head}, and ${file} is gone`,
        "Put that file back from a copy. Without it the bot does not start.",
      ),
    ];
  if (head === null || head === key.id) return [good(AUDIT_KEY, `${from} holds ${key.id}`)];
  const says = `the audit is signed with the key ${head}, but ${from} holds ${key.id}`;
  return [bad(AUDIT_KEY, says, "Put the right key in place. To replace it: npm run audit -- rotate-key")];
}

function checkDisk(path: string): Finding {
  const folder = existingFolder(path);
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  const says = `${Math.floor(freeBytes / MiB)} MiB are free at ${folder}`;
  return freeBytes < MIN_FREE_BYTES
    ? bad(DISK, says, "Free some space. Countersign refuses decisions that it cannot store.")
    : good(DISK, says);
}

/** A full disk may be the cause of another finding. But a place that cannot be used may say nothing about its disk. */
function diskIfKnown(path: string): Finding[] {
  try {
    return [checkDisk(path)];
  } catch {
    return [];
  }
}

async function checkServer(url: string, key: string | null): Promise<Finding[]> {
  const name = shown(url);
  try {
    const state = await examineServer(url);
    const { type, replicas, faults } = state;
    if (faults.length > 0) return [bad(DATABASE, `${name}: ${faults.join("; ")}`, SAFE_SERVER)];
    const users = replicas === 1 ? "1 process uses it" : `${replicas} processes use it`;
    const usable = `${name} can be read and written`;
    const found =
      type === "missing"
        ? note(DATABASE, `${usable}. ${NOTHING_YET}; the first start will create its tables`, PERHAPS_LOST)
        : good(DATABASE, usable + (nextStart(state) || `; ${users}`));
    return [found, ...checkKey(state, key, null)];
  } catch (error) {
    return [unusable(error, REACH_SERVER)];
  }
}
