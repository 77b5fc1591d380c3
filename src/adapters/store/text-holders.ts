// Finds the runs that hold a text of the audit, because they are deleted with it.

import { sql } from "kysely";
import type { RunKey } from "../../domain/ids.ts";
import { newest } from "./append-audit.ts";
import { type Database, inBatches, type Trx } from "./database.ts";

/** What was read of the audit and the runs, and which runs hold the text. A later look reads only what is new since. */
export type Look = {
  /** The newest entry. */
  readonly seq: number;
  readonly revisions: ReadonlyMap<RunKey, number>;
  readonly holders: ReadonlySet<RunKey>;
  /** The text is a request, so other runs may quote it. No message quotes a task. */
  readonly isRequest: boolean;
  /** For each run with a message for its channel, the runs whose requests this message quotes. */
  readonly quoted: ReadonlyMap<RunKey, ReadonlySet<string>>;
};

export const NOTHING_READ: Look = {
  seq: 0,
  revisions: new Map(),
  holders: new Set(),
  isRequest: false,
  quoted: new Map(),
};

/** A message about requests of several runs is stored with its carrier, and quotes the first few in part, without their digests. */
function withCarriers({ holders, isRequest, quoted }: Look): ReadonlySet<RunKey> {
  if (!isRequest) return holders;
  const carriers = [...quoted]
    .filter(([, runs]) => !runs.isDisjointFrom(holders))
    .map(([carrier]) => carrier);
  return holders.union(new Set(carriers));
}

/** Finds runs whose document contains the digest, and runs that an entry with this digest names. */
export async function lookForHolders(db: Reader, digest: string, before: Look): Promise<Look> {
  const seq = (await newest(db))?.seq ?? 0;
  const entries = db
    .selectFrom("audit")
    .select(["run", "approval"])
    .where("seq", ">", before.seq)
    .where("seq", "<=", seq);
  const named = await entries.where(contains("entry", digest)).where("run", "is not", null).execute();
  const runs = await db.selectFrom("runs").select(["key", "revision"]).execute();
  const holders = new Set([...before.holders, ...named.flatMap(({ run }) => run ?? [])]);
  const isRequest = before.isRequest || named.some(({ approval }) => approval !== null);
  const quoted = new Map(before.quoted);
  const saved = runs.filter(({ key, revision }) => before.revisions.get(key) !== revision);
  for (const batch of inBatches(saved.map(({ key }) => key))) {
    const here = db.selectFrom("runs").select("key").where("key", "in", batch);
    for (const { key } of await here.where(contains("doc", digest)).execute()) holders.add(key);
    const quoting = await here.select("doc").where(contains("doc", '"asked":')).execute();
    for (const { key, doc } of quoting) quoted.set(key, runsQuotedIn(doc));
  }
  const revisions = new Map(runs.map(({ key, revision }) => [key, revision]));
  return { seq, revisions, holders, isRequest, quoted };
}

/** Does not parse the document, because a damaged one may quote the text too. */
function runsQuotedIn(doc: string): ReadonlySet<string> {
  // What follows the name of a run, up to the next one. `asked` comes after the name (`gatheredCall`).
  const records = doc.split('"run":"').slice(1);
  return new Set(
    records.filter((record) => record.includes('"asked":')).map((record) => record.replace(/".*$/s, "")),
  );
}

type Reader = Pick<Database, "selectFrom">;

const contains = (column: "doc" | "entry", text: string) =>
  sql<boolean>`replace(${sql.raw(column)}, ${text}, '') <> ${sql.raw(column)}`;

/** Resolves to the runs that hold the text and are still stored. */
export async function storedHolders(trx: Trx, look: Look): Promise<{ key: RunKey; finished: 0 | 1 }[]> {
  const found: { key: RunKey; finished: 0 | 1 }[] = [];
  for (const batch of inBatches([...withCarriers(look)]))
    found.push(
      ...(await trx.selectFrom("runs").select(["key", "finished"]).where("key", "in", batch).execute()),
    );
  return found;
}
