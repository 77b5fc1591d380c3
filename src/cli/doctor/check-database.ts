// Can the database be used, and what would a start do to it? Only reads: makes no file, migrates no schema, writes no entry.

import { statfsSync } from "node:fs";
import { auditKeyFile, auditKeyOf, readAuditKey } from "../../adapters/store/audit-key.ts";
import {
  type DatabaseState,
  examineDatabase,
  existingFolder,
} from "../../adapters/store/examine-database.ts";
import { examineServer } from "../../adapters/store/examine-server.ts";
import { NEWEST_SCHEMA } from "../../adapters/store/schema.ts";
import { shown } from "../../adapters/store/database-copy.ts";
import type { Config } from "../../config.ts";
import type { RunningBot } from "./check-port.ts";
import { bad, type Finding, good } from "./finding.ts";

const DATABASE = "Database";
const AUDIT_KEY = "Audit key";
const DISK = "Disk";

const MiB = 1024 * 1024;
/** A busy day of approvals, several times over. */
const LITTLE_ROOM = 64 * MiB;

export async function checkDatabase(config: Config, bot: RunningBot | null): Promise<Finding[]> {
  const { database } = config;
  if (database.engine === "postgres") return checkServer(database.url, config.audit.key);
  return checkFile(database.path, config.audit.key, bot);
}

/** What helps, by what is wrong. */
const TODOS: readonly (readonly [RegExp, string])[] = [
  [/newer Countersign/, "Start that version, or put back the copy from before the upgrade."],
  [/another program/, "Set DATABASE_URL to a file of Countersign's own."],
  [/not a database|damaged/, "Keep the file, put back a backup, and see what happened to the disk."],
  [/full/, "Make room on that disk."],
  [/belongs to user/, "Run the doctor and the bot as the same user, or give that user the files."],
  [/server cannot be reached/, "Is DATABASE_URL right, and is the server up?"],
];
const OWN_KEY = "Put the right file there, readable and writable by this user.";
const ONLY_COPIES = "npm start does without it; the doctor and the commands about the audit do not.";
const OWN_FOLDER = "See that DATABASE_URL names a file in a folder that this user may write to.";
const REACH_SERVER = "Is DATABASE_URL right, and may this machine and this user use the server?";
const SAFE_SERVER =
  "Turn these settings on, and use the primary, as a user who owns the database. Otherwise decisions can be lost.";

function unusable(error: unknown, otherwise: string): Finding {
  const says = error instanceof Error ? error.message : String(error);
  if (says.includes("TMPDIR")) return bad("Temporary folder", says, ONLY_COPIES);
  if (says.includes("audit's key")) return bad(AUDIT_KEY, says, OWN_KEY);
  return bad(DATABASE, says, TODOS.find(([shape]) => shape.test(says))?.[1] ?? otherwise);
}

async function checkFile(path: string, key: string | null, bot: RunningBot | null): Promise<Finding[]> {
  try {
    const state = await examineDatabase(path);
    return [fileFinding(path, state, bot), ...checkKey(state, key, path), checkDisk(path)];
  } catch (error) {
    return [unusable(error, OWN_FOLDER)];
  }
}

function fileFinding(path: string, state: DatabaseState, bot: RunningBot | null): Finding {
  if (bot !== null && state.free) {
    const says = `a Countersign runs at ${bot.url}, but it does not use ${path}`;
    return bad(DATABASE, says, "Set PORT to another number, or DATABASE_URL to that one's database.");
  }
  if (state.holder !== null && bot === null) {
    const who = state.holder === 0 ? "another process" : `process ${state.holder}`;
    const todo =
      "If that is the bot, see that it is well, and that HOST and PORT are its own. If not, stop it.";
    return bad(DATABASE, `${path} is locked by ${who}, and no bot answers at HOST and PORT`, todo);
  }
  if (state.type === "missing")
    return good(DATABASE, `${path} is not there yet; the first start makes it, and may write there`);
  return good(
    DATABASE,
    `${path} can be read and written to${nextStart(state)}${bot === null ? "" : inUse(bot)}`,
  );
}

const inUse = ({ url }: RunningBot): string => `; it is in use by the bot at ${url}`;

const nextStart = ({ type, schema }: Pick<DatabaseState, "type" | "schema">): string =>
  type === "older"
    ? `; the next start migrates its schema from ${schema} to ${NEWEST_SCHEMA}, after which older versions refuse it`
    : "";

/** A start refuses any key but the one that signed the audit last. */
function checkKey(
  { head }: Pick<DatabaseState, "head">,
  given: string | null,
  path: string | null,
): Finding[] {
  const file = path === null ? "" : auditKeyFile(path);
  const key = given === null ? (path === null ? null : readAuditKey(path)) : auditKeyOf(given);
  const from = given === null ? file : "AUDIT_KEY";
  if (key === null && head === null)
    return [good(AUDIT_KEY, `there is none yet; the first start makes it, as ${file}`)];
  if (key === null)
    return [
      bad(
        AUDIT_KEY,
        `the audit is signed with the key ${head}, and ${file} is gone`,
        "Put that file back from a copy.",
      ),
    ];
  if (head === null || head === key.id) return [good(AUDIT_KEY, `${from} holds ${key.id}`)];
  const says = `the audit is signed with the key ${head}, and ${from} holds ${key.id}`;
  return [bad(AUDIT_KEY, says, "Put the right key in place. To exchange it: npm run audit -- rotate-key")];
}

function checkDisk(path: string): Finding {
  const folder = existingFolder(path);
  const { bavail, bsize } = statfsSync(folder);
  const left = bavail * bsize;
  const says = `${Math.floor(left / MiB)} MiB are free at ${folder}`;
  return left < LITTLE_ROOM
    ? bad(DISK, says, "Make room: a decision that cannot be stored is refused.")
    : good(DISK, says);
}

async function checkServer(url: string, key: string | null): Promise<Finding[]> {
  const name = shown(url);
  try {
    const state = await examineServer(url);
    const { type, replicas, faults } = state;
    if (faults.length > 0) return [bad(DATABASE, `${name}: ${faults.join("; ")}`, SAFE_SERVER)];
    const users = replicas === 1 ? "1 process uses it" : `${replicas} processes use it`;
    const next = type === "missing" ? "; the first start makes its tables" : nextStart(state) || `; ${users}`;
    return [good(DATABASE, `${name} can be read and written to${next}`), ...checkKey(state, key, null)];
  } catch (error) {
    return [unusable(error, REACH_SERVER)];
  }
}
