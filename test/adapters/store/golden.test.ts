// Databases as each released program left them. This program loads and draws all their runs, forms and notifications,
// and Slack accepts the result. A golden file is never edited: the schemas must handle whatever its documents lack.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isRecord, type Json, parseJson } from "#src/domain/json.ts";
import type { Nonce, RunKey } from "#src/domain/ids.ts";
import type { KeptRule } from "#src/domain/policy/policy.ts";
import { outageSlots, renderKey } from "#src/domain/render-key.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, OPENING, OUTCOME, UNREADABLE } from "#src/domain/slot.ts";
import { auditKeyOf } from "#src/adapters/store/audit-key.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { MIGRATIONS } from "#src/adapters/store/schema.ts";
import { sealsOf } from "#src/adapters/store/seals.ts";
import { oneRun, runList } from "#src/adapters/slack/blocks/command-answers.ts";
import { changedModal, formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { homeView } from "#src/adapters/slack/blocks/home-view.ts";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import { privateNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { FormTicket, Store } from "#src/ports/store.ts";
import type { Finding } from "#src/ports/audit-store.ts";
import { acceptBlocks, acceptView } from "#sandbox/slack/rules-surface.ts";
import { CHANNEL, NOON } from "../../make/run.ts";
import { wire } from "../slack/blocks/oracle.ts";
import { GOLDEN_KEY, restore } from "./golden/load.ts";
import { everyState } from "./golden/states.ts";
import { aQueuePage } from "../../make/queue.ts";

let folder = "";
let file = "";
let store: Store | null = null;
let findings: Finding[] = [];
let corrupt: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "golden-"));
  file = join(folder, "bot.db");
  [findings, corrupt, store] = [[], [], null];
});
afterEach(async () => {
  await store?.close();
  rmSync(folder, { recursive: true });
});

/** `change` runs before the store opens. */
async function golden(schema: number, change: (raw: DatabaseSync) => void = () => undefined): Promise<Store> {
  const raw = restore(schema, file);
  change(raw);
  raw.close();
  const opened = await openStore({
    url: `sqlite:${file}`,
    owner: "test",
    auditKey: GOLDEN_KEY,
    now: () => NOON,
    onCorrupt: (key, error) => corrupt.push(`${key} ${error.message}`),
  });
  opened.onTampering((finding) => findings.push(finding));
  store = opened;
  return opened;
}

const allRuns = (from: Store): Promise<readonly Run[]> =>
  from.list({ channels: [CHANNEL], only: "all", limit: 1_000 });

function draw(run: Run): void {
  const cards = run.approvals.map(({ id }) => cardSlot(id));
  const slots = [OPENING, OUTCOME, UNREADABLE, ...cards, ...Object.keys(run.posts), ...outageSlots(run)];
  for (const slot of slots) {
    if (renderKey(run, slot) !== null) accept(messageIn(run, slot));
  }
  accept(oneRun({ run, link: null }));
  accept(runList({ title: "Runs", none: "None." }, [{ run, link: null }], false));
  for (const { says } of run.notices) accept(privateNotice(says, run));
}

function accept({ text, blocks }: { readonly text: string; readonly blocks: readonly unknown[] }): void {
  expect(text.trim()).not.toBe("");
  acceptBlocks(wire(blocks));
}

function drawForm(run: Run, ticket: FormTicket): void {
  for (const verdict of ["approve", "deny"] as const)
    acceptModal(formView({ run, ticket: { saw: ticket.saw, verdict, nonce: ticket.nonce } }));
  acceptModal(readModal(run, ticket.saw));
  for (const { request } of run.approvals) acceptModal(changedModal(run, ticket.saw, request));
}

const acceptModal = (view: unknown): unknown => acceptView(wire(view) as { [field: string]: Json }, "modal");

const schemas = readdirSync(new URL("golden/", import.meta.url))
  .flatMap((name) => /^schema-(\d+)\.sql$/.exec(name)?.[1] ?? [])
  .map(Number);

test("every schema has a golden database", () => {
  expect(schemas.toSorted((a, b) => a - b)).toEqual(MIGRATIONS.map((_step, index) => index + 1));
});

describe.each(schemas)("a database of schema %i", (schema) => {
  test("loads whole, and each of its runs can be drawn", async () => {
    const runs = await allRuns(await golden(schema));
    expect(corrupt).toEqual([]);
    expect(runs.length).toBeGreaterThan(50);
    for (const run of runs) draw(run);
    const linked = runs.slice(0, 10).map((run) => ({ run, link: null }));
    const rows = { page: aQueuePage(runs.slice(0, 10)), own: linked, moreOwn: true };
    acceptView(wire(homeView(rows, NOON)) as { [field: string]: Json }, "home");
  });

  test("reports the only run that was changed outside, and marks it as tampered with", async () => {
    const runs = await allRuns(await golden(schema));
    const condemned = runs.filter(({ key }) => findings.some(({ run }) => run === key));
    expect(condemned.map(({ watch }) => watch.type)).toEqual(["tampered"]);
  });

  test("keeps every run unchanged when it is saved and loaded again", async () => {
    const opened = await golden(schema);
    for (const { key } of await allRuns(opened)) {
      const stored = await opened.load(key);
      if (stored === null) throw new Error("it is missing");
      // This process has claimed none of the runs.
      expect(await opened.save(stored, stored.run)).toBe("passed-on");
      expect(await opened.load(key)).toEqual({ run: stored.run, revision: stored.revision + 1 });
    }
  });

  test("opens every form that was open, as its person saw it", async () => {
    const nonces: Nonce[] = [];
    const opened = await golden(schema, (raw) => {
      for (const { nonce } of raw.prepare("select nonce from forms").all()) nonces.push(nonce as Nonce);
    });
    expect(nonces.length).toBeGreaterThan(20);
    for (const nonce of nonces) {
      const ticket = await opened.form(nonce);
      if (ticket === null || ticket === "changed") throw new Error("it is missing");
      const stored = await opened.load(ticket.run);
      if (stored === null) throw new Error("it is missing");
      drawForm(stored.run, ticket);
    }
  });

  test("has notifications that can be sent, and a whole audit", async () => {
    const opened = await golden(schema);
    const [about, notifications] = [await opened.auditEntry(1), await opened.notifications(100)];
    expect(notifications.length).toBeGreaterThan(4);
    for (const each of notifications) {
      const entry = await opened.auditEntry(each.entry);
      if (entry === null) throw new Error("the entry is missing");
      accept(notificationMessage(each, { entry, about, action: null, channel: CHANNEL, card: null }));
    }
    expect(await opened.walkAudit()).toBeNull();
    expect(await opened.checkAudit()).toEqual([]);
  });
});

test("the newest golden database contains every state that can be stored", async () => {
  const storedStates = statesIn(await allRuns(await golden(MIGRATIONS.length)));
  for (const state of statesIn(everyState())) expect(storedStates).toContain(state);
});

/** Returns every value of a `type`, `cause`, `what` or `how`, with the path to it. */
function statesIn(value: Json, path = ""): Set<string> {
  if (Array.isArray(value)) return new Set(value.flatMap((each: Json) => [...statesIn(each, path)]));
  if (!isRecord(value)) return new Set();
  const found = new Set<string>();
  for (const [name, each] of Object.entries(value)) {
    if (["type", "cause", "what", "how"].includes(name)) found.add(`${path} ${JSON.stringify(each)}`);
    const below = ["posts", "uploads"].includes(path) ? path : name;
    for (const state of statesIn(each, below)) found.add(state);
  }
  return found;
}

// A document of an older program: sealed, but without a field that runs have now.

type Document = { [field: string]: Json };

/** Applies `change` to the document of every sealed run, and seals it again as the program did. */
function rewrite(raw: DatabaseSync, change: (doc: Document) => void): void {
  const seals = sealsOf(auditKeyOf(GOLDEN_KEY));
  for (const row of raw.prepare("select * from runs").all() as (Parameters<typeof seals.run>[0] & Sealed)[]) {
    if (row.seal !== seals.run(row)) continue;
    const doc = parseJson(row.doc) as Document;
    change(doc);
    const next = { ...row, doc: JSON.stringify(doc) };
    raw.prepare("update runs set doc = ?, seal = ? where key = ?").run(next.doc, seals.run(next), row.key);
  }
}
type Sealed = { readonly seal: string };

const isDocument = (value: Json): value is Document => isRecord(value);

/** Returns every record in a value, itself included. */
function recordsIn(value: Json): Document[] {
  if (Array.isArray(value)) return value.flatMap(recordsIn);
  return isDocument(value) ? [value, ...Object.values(value).flatMap(recordsIn)] : [];
}

/** Whether a stored rule without the field still loads. Holds every field, so that the compiler names a field that is missing. */
const RULE_FIELDS = {
  // Every program has written the name.
  name: false,
  parts: true,
  selfApproval: true,
  reason: true,
  needs: true,
  holdMs: true,
  expiry: true,
  friction: true,
  denyReasons: true,
  mention: true,
  followUp: true,
} satisfies Record<keyof KeptRule, boolean>;

const MAY_BE_MISSING = Object.entries(RULE_FIELDS).flatMap(([field, mayBeMissing]) =>
  mayBeMissing ? [field] : [],
);

describe("a document that an older program wrote", () => {
  test.each(MAY_BE_MISSING)("whose rule has no %s loads whole and is drawn", async (field) => {
    const opened = await golden(1, (raw) =>
      rewrite(raw, (doc) => {
        for (const each of recordsIn(doc)) {
          const { rule } = each;
          if (rule !== undefined && isRecord(rule)) Reflect.deleteProperty(rule, field);
        }
      }),
    );
    const runs = await allRuns(opened);
    expect(corrupt).toEqual([]);
    const rules = runs.flatMap(({ approvals }) => approvals.map(({ appliedRule }) => appliedRule.rule));
    for (const rule of rules) expect(rule).toHaveProperty(field);
    for (const run of runs) draw(run);
  });

  test("without a required field is reported by name, and left alone", async () => {
    let broken = "";
    const opened = await golden(1, (raw) =>
      rewrite(raw, (doc) => {
        const [approval] = doc["approvals"] as Document[];
        if (broken !== "" || approval === undefined) return;
        broken = doc["key"] as string;
        delete (approval["request"] as Document)["digest"];
      }),
    );
    const before = corrupt.length;
    const runs = await allRuns(opened);
    expect(runs.map(({ key }) => key)).not.toContain(broken);
    expect(corrupt.slice(before)).toEqual([
      `${broken} the stored run ${broken} cannot be read: approvals.0.request.digest: Invalid input: expected string, received undefined`,
    ]);
    const facts = { code: "row_unreadable", applied: "no", retry: "never" };
    await expect(opened.load(broken as RunKey)).rejects.toMatchObject(facts);
  });
});

describe("a notification", () => {
  test("whose progress is unknown is looked for, and that is reported", async () => {
    const opened = await golden(1, (raw) => raw.exec("update notifications set post = '{}'"));
    const [first] = await opened.notifications(1);
    expect(first?.post).toEqual({ type: "unsure", lookAt: 0, tries: 1 });
    expect(findings).toHaveLength(1);
    expect(findings[0]?.words).toBe("a stored notification was changed outside Countersign");
  });

  test("without a known addressee is reported, and the others go on", async () => {
    const opened = await golden(1, (raw) =>
      raw.exec("update notifications set to_id = 'nobody' where kind = 'receipt'"),
    );
    expect((await opened.notifications(100)).map(({ kind }) => kind)).not.toContain("receipt");
    expect(findings).toHaveLength(1);
  });
});
