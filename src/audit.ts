// `npm run audit`: is the audit whole, what is in it? Reads the database without the bot, and changes nothing.

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { type Asked, readAsked, USAGE } from "./audit/command-line.ts";
import { exported } from "./audit/export.ts";
import { shown } from "./audit/show.ts";
import { verdictOn, verdictWords } from "./audit/verify.ts";
import { explainFaults, readAuditConfig } from "./config.ts";
import { type AuditFile, openAuditFile, publicKeysFor } from "./audit/open.ts";

const [GOOD, TAMPERED, UNUSABLE] = [0, 1, 2];

const asked = readAsked(process.argv.slice(2));
if (typeof asked === "string") {
  console.error(`${asked}.\n\n${USAGE}`);
  process.exitCode = UNUSABLE;
} else {
  process.exitCode = await answered(asked);
}

async function answered(wanted: Asked): Promise<number> {
  const read = readAuditConfig(process.env);
  if (!read.ok) {
    console.error(explainFaults(read.error));
    return UNUSABLE;
  }
  let audit: AuditFile | null = null;
  try {
    audit = await openAuditFile(read.value.database);
    return await act(audit, wanted, read.value);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return UNUSABLE;
  } finally {
    await audit?.close();
  }
}

type Where = { readonly database: string; readonly key: string | null };

async function act(audit: AuditFile, wanted: Asked, where: Where): Promise<number> {
  switch (wanted.is) {
    case "verify": {
      const verdict = await verdictOn(audit, publicKeysFor(where, wanted.publicKeys), wanted.heads);
      (verdict.ok ? console.log : console.error)(verdictWords(verdict, wanted.heads.length));
      return verdict.ok ? GOOD : TAMPERED;
    }
    case "export": {
      // What was tampered with is exported all the same, and said to be.
      const verdict = await verdictOn(audit, publicKeysFor(where, wanted.publicKeys), []);
      await write(exported(audit, wanted), wanted.out);
      if (!verdict.ok) console.error(verdictWords(verdict, 0));
      return verdict.ok ? GOOD : TAMPERED;
    }
    case "show": {
      const story = await shown(audit, wanted.run);
      if (story === null) console.error("The audit has no entry about this run.");
      else console.log(story);
      const verdict = await verdictOn(audit, publicKeysFor(where, wanted.publicKeys), []);
      if (!verdict.ok) console.error(verdictWords(verdict, 0));
      return verdict.ok ? (story === null ? UNUSABLE : GOOD) : TAMPERED;
    }
  }
}

/** A file that is there already is not overwritten. */
async function write(pieces: AsyncIterable<string>, out: string | null): Promise<void> {
  const to: Writable = out === null ? process.stdout : createWriteStream(out, { flags: "wx", mode: 0o600 });
  const failed = once(to, "error").then(([error]: unknown[]) => {
    throw error instanceof Error ? error : new Error(String(error));
  });
  const writing = async (): Promise<void> => {
    for await (const piece of pieces) if (!to.write(piece)) await once(to, "drain");
    if (out !== null) await finished(to.end());
  };
  await Promise.race([writing(), failed]);
}
