// Whatever a variable or its file contains, faults of the configuration are reported as such, and accepted values can
// be used.

import * as fc from "fast-check";
import { test } from "vitest";
import { connectionOf, nameOf } from "#src/adapters/store/postgres.ts";
import {
  findMisspelled,
  readAuditConfig,
  readConfig,
  readProxies,
  secretsOf,
  variables,
} from "#src/config.ts";
import { createLog } from "#src/log.ts";
import { createOpen } from "#src/outbound.ts";
import { SOCKET } from "../make/config.ts";

const SEED = Buffer.alloc(32, 7).toString("base64");

const PIECES = [
  "http://",
  "https://",
  "postgres://",
  "sqlite:",
  "file:",
  "socks5://",
  "//",
  "localhost",
  "[::1]",
  "db",
  "ann",
  ":",
  "@",
  "/",
  "?",
  "#",
  "&",
  "=",
  ",",
  ".",
  "*",
  "{run}",
  "host=",
  "sslmode=disable",
  "sslmode=verify-full",
  "%",
  "%2",
  "%41",
  "%FF",
  "%E0%A4%A",
  "%00",
  "\\",
  '"',
  "'",
  " ",
  "\t",
  "\n",
  "\r\n",
  "\0",
  "\uFEFF",
  "\uD800",
  "é",
  "🔴",
  "-----BEGIN PRIVATE KEY-----",
  SEED,
  "xoxb-1",
  "xapp-1",
  "U0ANN",
  "S0GROUP",
  "1",
  "1e3",
  "-0",
  "99999999999",
  "NaN",
  "0x10",
];
const some = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((parts) => parts.join(""));
/** The value alone, and in the parts of an address that are decoded. */
const value = fc.oneof(
  some,
  some.map((part) => `http://${part}@proxy:1`),
  some.map((part) => `http://proxy:1${part}`),
  some.map((part) => `postgres://ann:${part}@localhost/name`),
  some.map((part) => `postgres://ann@localhost/${part}`),
  some.map((part) => `postgres://ann@localhost/name?sslmode=disable&host=${part}`),
);

/** Does everything that the start does with a configuration before it opens a connection. */
async function use(env: Record<string, string>): Promise<void> {
  findMisspelled(env);
  readAuditConfig(env);
  readProxies(env);
  const read = readConfig(env);
  if (!read.ok) return;
  const { database, proxies } = read.value;
  createLog({ level: "silent", pretty: false, secrets: secretsOf(read.value) });
  if (database.engine === "postgres") {
    nameOf(database.url);
    connectionOf(database.url);
  }
  await createOpen(proxies)({}).destroy();
}

test.each(variables.map(({ name }) => name))(
  "any value of %s is reported as a fault or can be used",
  async (name) => {
    await fc.assert(
      fc.asyncProperty(value, async (given) => use({ ...SOCKET, AUDIT_KEY: SEED, [name]: given })),
      { numRuns: 300 },
    );
  },
);
