// Attacks by a person who can write to the database file but does not have the key. They change stored data while the app is stopped.

import { expect } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, modalSays, textOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, ben, cat, type Stage } from "../make/world.ts";
import { literal, type WorldDatabase } from "../make/world-database.ts";
import { type Attack, attacks, type Story } from "./classes.ts";
import { rowsOf } from "./ground.ts";

type Row = readonly [what: string, attack: (on: Story) => Promise<void>];

/** Stops the app, changes its database, and starts it again. */
async function changeDatabase(
  world: Stage,
  change: (database: WorldDatabase) => Promise<unknown>,
): Promise<void> {
  await world.stopApp();
  await world.database.dropRules();
  await change(world.database);
  await world.startApp();
}

type Doc = { approvals: { state: object; request: { digest: string } }[]; requester: string };

/** Changes the stored run as the attacker wants it. */
const rewriteRuns =
  (edit: (doc: Doc) => void) =>
  async ({ sql }: WorldDatabase): Promise<void> => {
    for (const { key, doc } of await sql("select key, doc from runs")) {
      const run = JSON.parse(String(doc)) as Doc;
      edit(run);
      const [document, requester] = [literal(JSON.stringify(run)), literal(run.requester)];
      await sql(
        `update runs set doc = ${document}, requester = ${requester} where key = ${literal(String(key))}`,
      );
    }
  };

const forgedDecision = (verdict: string, delivery: object) =>
  rewriteRuns(({ approvals }) => {
    for (const approval of approvals) {
      const { digest } = approval.request;
      const by = { team: "T0ACME", user: cat };
      const decision = { verdict, reason: "looks fine to me", by, at: Date.now(), digest, entry: 1 };
      approval.state = { type: "decided", decision, delivery };
    }
  });

/** Expects that nothing left, that the card claims nothing, and that the tampering is reported everywhere. */
async function expectStopped(on: Story): Promise<void> {
  await on.world.becomes(on.card, "tampered");
  expect(buttonsOf(on.card)).toEqual([]);
  expect(textOf(on.card)).not.toContain("looks fine to me");
  await on.world.saidIn(on.opening, "thread:tampered");
  expect(on.world.logged.some((line) => line.includes("TAMPERED"))).toBe(true);
  const metrics = await fetch(new URL("/metrics", on.world.url()));
  expect(await metrics.text()).toMatch(/^countersign_tampering_findings [1-9]/m);
  expect(on.decisions()).toEqual([]);
}

const expectForgeryStopped =
  (verdict: string, delivery: object) =>
  async (on: Story): Promise<void> => {
    await changeDatabase(on.world, forgedDecision(verdict, delivery));
    await expectStopped(on);
  };

const rows: readonly Row[] = [
  [
    "a run is rewritten as approved by someone, not sent yet",
    expectForgeryStopped("approve", { type: "recorded" }),
  ],
  ["a run is rewritten as approved and held", expectForgeryStopped("approve", { type: "held", until: 0 })],
  ["a run is rewritten as denied by someone", expectForgeryStopped("deny", { type: "recorded" })],
  [
    "a run is rewritten as approved and confirmed: its card claims nothing of it",
    expectForgeryStopped("approve", { type: "confirmed", at: 5, stillListed: null }),
  ],
  [
    "the requester is replaced, so that the person who started the run could approve",
    async (on) => {
      await changeDatabase(
        on.world,
        rewriteRuns((run) => void (run.requester = cat)),
      );
      await expectStopped(on);
      // Even if someone else watches it again, Ana still counts as its requester.
      const newCard = await on.world.brings([cat, on.card.channel, `watch ${on.run}`], () =>
        on.world
          .posted(on.card.channel)
          .find((each) => each.ts > on.card.ts && buttonsOf(each).includes("Approve")),
      );
      on.refused("requester", ana);
      await on.world.isRefused(ana, newCard, "Approve", "requester");
    },
  ],
  [
    "the verdict of an open form is reversed: its person's denial approves nothing",
    async (on) => {
      const form = await on.world.openForm(ben, on.card, "Deny");
      on.refused("form-changed");
      await changeDatabase(on.world, ({ sql }) =>
        sql(`update forms set doc = replace(doc, '"deny"', '"approve"')`),
      );
      await on.world.fillModal(ben, "far too much");
      await on.world.until(() => on.world.logged.some((line) => line.includes("TAMPERED")));
      await on.world.until(() => modalSays(form, "refusal:form-changed"));
      await on.world.slack.acts.close(ben, form.id);
      expect(on.decisions()).toEqual([]);
    },
  ],
  [
    "the audit is emptied while a run remembers it: no approval leaves",
    async (on) => {
      await changeDatabase(on.world, ({ sql }) => sql("delete from audit"));
      await on.world.decide(ben, on.card, "Approve", "go");
      await on.world.becomes(on.card, "held-back");
      expect(on.decisions()).toEqual([]);
    },
  ],
  [
    "the audit's beginning is removed, and a forged entry says that it was archived: no approval leaves",
    async (on) => {
      await changeDatabase(on.world, async ({ sql }) => {
        const [last = {}] = await sql("select * from audit order by seq desc limit 1");
        const seq = Number(last["seq"]);
        const archive = { seq: seq - 1, link: "a".repeat(64), file: "b".repeat(64) };
        const before = JSON.parse(String(last["entry"])) as object;
        const entry = literal(JSON.stringify({ ...before, what: "archived", archive }));
        await sql(`delete from audit where seq < ${seq}`);
        await sql(`update audit set what = 'archived', entry = ${entry} where seq = ${seq}`);
      });
      await on.world.decide(ben, on.card, "Approve", "go");
      await on.world.becomes(on.card, "held-back");
      expect(on.decisions()).toEqual([]);
    },
  ],
  [
    "other entries about a decision are renamed to disputes: the person who decided can still raise the alarm",
    async (on) => {
      const receipt = await receiptOf(on);
      await changeDatabase(on.world, ({ sql }) =>
        sql("update audit set what = 'disputed' where what in ('sent', 'settled')"),
      );
      await on.world.click(ben, receipt, "This was not me");
      await on.world.told(ben, "answer:reported");
      expect(disputersOf(on)).toEqual([ben]);
      await on.world.becomes(on.card, "dispute:1:open");
    },
  ],
  [
    "a receipt is pointed at another decision: pressing it disputes the one that it shows",
    async (on) => {
      const receipt = await receiptOf(on);
      const { opening } = await on.world.asking(ana, on.card.channel, "deploy web-shop to production");
      const other = await on.world.cardOf(opening);
      await on.world.decide(cat, other, "Approve", "mine");
      await on.world.until(() => on.world.directTo(cat).some((each) => says("receipt:approve", each)));
      await changeDatabase(on.world, ({ sql }) =>
        sql(
          `update notifications set entry = (select max(seq) from audit where what = 'decided') where to_id = '${ben}'`,
        ),
      );
      await on.world.click(ben, receipt, "This was not me");
      await on.world.told(ben, "answer:reported");
      await on.world.until(() => on.world.logged.some((line) => line.includes("TAMPERED")));
      await on.world.becomes(on.card, "dispute:1:open");
      expect(disputersOf(on)).toEqual([ben]);
      expect(textOf(other)).not.toContain("Disputed by");
    },
  ],
];

/** Ben approves. Resolves to his receipt. */
async function receiptOf({ world, card }: Story): Promise<Message> {
  await world.decide(ben, card, "Approve", "looked at it");
  await world.becomes(card, "approved");
  return world.until(() => world.directTo(ben).find((each) => says("receipt:approve", each)));
}

/** Returns the person of each entry that is a dispute by its text. */
const disputersOf = ({ world }: Story): string[] =>
  rowsOf(world, "select entry from audit")
    .map(({ entry }) => JSON.parse(String(entry)) as { what: string; by: { user: string } | null })
    .flatMap(({ what, by }) => (what === "disputed" ? [String(by?.user)] : []));

export const databaseCases: readonly Attack<Story>[] = attacks<Story, Row>(36, 1, rows, (on, [, attack]) =>
  attack(on),
);
