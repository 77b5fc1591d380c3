// Attacks on a decision while it is made: the request changes, two people decide, the process dies, the service or Slack fails.

import { expect } from "vitest";
import { inFirstField } from "../make/journey-acts.ts";
import { buttonsOf, modalSays, modalText, textOf } from "../make/journey-sight.ts";
import { type Saying, idOf, says, saysInJson } from "../make/message-id.ts";
import { ana, ben, cat, opsAgents } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";
import { rawStories } from "./raw-cases.ts";

type Row = readonly [what: string, attack: (on: Story) => Promise<void>];
const stories = (kind: number, from: number, rows: readonly Row[]): readonly Attack<Story>[] =>
  attacks<Story, Row>(kind, from, rows, (on, [, attack]) => attack(on));

type Because = "changed" | "closed";
const ANSWERS: Readonly<Record<Because, Saying>> = { changed: "form:changed", closed: "refusal:closed" };

/** Something happens while Ben has the form open. He is told at once, or when he submits, and nothing leaves. */
async function expectOvertaken(
  on: Story,
  happens: (on: Story) => void | Promise<void>,
  because: Because,
): Promise<void> {
  on.refused(because);
  const form = await on.world.openForm(ben, on.card, "Approve");
  const typed = inFirstField(form, "as I saw it");
  await happens(on);
  await on.world.slack.acts.submit(ben, form.id, typed);
  await on.world.until(
    () => modalSays(form, ANSWERS[because]),
    () => modalText(form),
  );
  await on.world.slack.acts.close(ben, form.id);
  expect(on.decisions()).toEqual([]);
}

const meanwhile =
  (happens: (on: Story) => void | Promise<void>, because: Because) =>
  (on: Story): Promise<void> =>
    expectOvertaken(on, happens, because);

const stolen = stories(15, 1, [
  [
    "the same person approves twice, in two windows",
    async (on) => {
      const first = await on.world.openForm(ben, on.card, "Approve");
      await on.world.openForm(ben, on.card, "Approve");
      await on.world.fillModal(ben, "once");
      on.refused("already-decided");
      const answer = JSON.stringify(await on.world.forgeSubmit(ben, first, "twice"));
      expect(saysInJson("refusal:already-decided", answer)).toBe(true);
      await on.world.becomes(on.card, "approved");
      expect(on.decisions()).toEqual([{ decision: "approve", reason: "once" }]);
    },
  ],
  [
    "a second verdict of the same person in another window",
    async (on) => {
      const first = await on.world.openForm(ben, on.card, "Approve");
      await on.world.openForm(ben, on.card, "Deny");
      await on.world.fillModal(ben, "no");
      on.refused("already-decided");
      const answer = JSON.stringify(await on.world.forgeSubmit(ben, first, "yes"));
      expect(saysInJson("refusal:already-decided", answer)).toBe(true);
      await on.world.becomes(on.card, ["approved", "denied"]);
      expect(on.decisions()).toEqual([{ decision: "deny", reason: "no" }]);
    },
  ],
]);

const change = (to: object) => (on: Story) =>
  on.world.service.control.changeApproval(on.run, on.approval, to);
const content = stories(16, 1, [
  ["the same id with another action", meanwhile(change({ action: "Drop the billing database" }), "changed")],
  [
    "the same id with a longer action",
    meanwhile(change({ action: "Deploy billing-api to production; rm -rf /" }), "changed"),
  ],
  ["the same action with one more detail", meanwhile(change({ details: { force: true } }), "changed")],
  [
    "the same words with one more space",
    meanwhile(change({ action: "Deploy  billing-api to production" }), "changed"),
  ],
  ["a look-alike letter", meanwhile(change({ action: "Deploy billing-аpi to production" }), "changed")],
]);

const reused = stories(16, 13, [
  [
    "the id of an approved request, used again for another action: it has a card of its own",
    async (on) => {
      const { control } = on.world.service;
      // A second request keeps the run waiting.
      control.addApproval(on.run, { action: "Tell the customers" });
      await on.world.cardOf(on.opening, 1);
      await on.world.decide(ben, on.card, "Approve", "this one");
      await on.world.becomes(on.card, "approved");
      control.returnApproval(on.run, on.approval);
      change({ action: "Drop the billing database" })(on);
      const again = await on.world.cardOf(on.opening, 2);
      expect(says("reused", again)).toBe(true);
      expect(textOf(again)).toContain("Drop the billing database");
      expect(buttonsOf(again)).toEqual(["Approve", "Deny"]);
      expect(textOf(on.card)).not.toContain("Drop the billing database");
      expect(on.decisions()).toEqual([{ decision: "approve", reason: "this one" }]);
    },
  ],
]);

const between = stories(17, 1, [
  [
    "the approval is withdrawn",
    meanwhile((on) => on.world.service.control.withdrawApproval(on.run, on.approval), "closed"),
  ],
  ["the run is canceled", meanwhile((on) => on.world.service.control.cancel(on.run, "not needed"), "closed")],
  ["the run fails", meanwhile((on) => on.world.service.control.fail(on.run, "broken"), "closed")],
  [
    "the request changes and changes back: what is decided is what was shown",
    async (on) => {
      on.refused("changed");
      const form = await on.world.openForm(ben, on.card, "Approve");
      const typed = inFirstField(form, "as I saw it");
      change({ action: "Drop the billing database" })(on);
      await on.world.becomes(on.card, "v2");
      change({ action: "Deploy billing-api to production" })(on);
      await on.world.becomes(on.card, "v3");
      await on.world.slack.acts.submit(ben, form.id, typed);
      expect(["form:changed", "refusal:changed", "refusal:reopened"]).toContain(idOf(form.view));
      await on.world.slack.acts.close(ben, form.id);
      expect(on.decisions()).toEqual([]);
    },
  ],
]);

const withheld = stories(17, 8, [
  [
    "the service says that it waits for an approval, but not for which",
    async (on) => {
      const { control } = on.world.service;
      await on.world.openForm(ben, on.card, "Approve");
      const untold = { id: on.run, status: "awaiting_approval" };
      const fault = control.fault({ method: "GET" }, { type: "answer", status: 200, body: untold }, "all");
      await on.world.fillModal(ben, "as I saw it");
      await on.world.becomes(on.card, "waiting");
      expect(on.decisions()).toEqual([]);
      fault.clear();
      await on.world.becomes(on.card, "approved");
      expect(on.decisions()).toEqual([{ decision: "approve", reason: "as I saw it" }]);
    },
  ],
]);

const restarted = stories(25, 1, [
  [
    "the process dies while a form is open: its answer counts, once",
    async (on) => {
      await on.world.openForm(ben, on.card, "Approve");
      await on.world.stopApp();
      await on.world.startApp();
      await on.world.fillModal(ben, "after all");
      await on.world.becomes(on.card, ["approved", "denied"]);
      expect(on.decisions()).toEqual([{ decision: "approve", reason: "after all" }]);
    },
  ],
  [
    "a submit from before the restart comes again",
    async (on) => {
      await on.world.decide(ben, on.card, "Deny", "no");
      await on.world.becomes(on.card, "denied");
      const submit = on.world.lastPayload("view_submission");
      await on.world.stopApp();
      await on.world.startApp();
      await on.world.deliver(submit);
      expect(on.decisions()).toEqual([{ decision: "deny", reason: "no" }]);
    },
  ],
]);

/** Returns whether the card ever claimed that the approval took effect. */
const claims = ({ said, states }: Past): boolean =>
  states.includes("approved") || said.some((each) => each.includes("✅"));
type Past = { readonly said: readonly string[]; readonly states: readonly (string | null)[] };
const pastOf = ({ world, card }: Story): Past => ({
  said: world.followed(card),
  states: world.followedStates(card),
});
const DECIDE = { method: "POST", route: "decide" } as const;
const NO_WITH_200 = [
  { ok: false },
  { data: { approval: { status: "denied_by_policy" } } },
  { status: "approved", approval_id: "another" },
  { ignored: true },
  { status: "approved", votes_needed: 2 },
];

/** The first POST gets this answer and has no effect. The approval is still listed, so the same decision is sent again. */
async function quotedThenConfirmed(on: Story, body: object): Promise<void> {
  on.world.service.control.fault(DECIDE, { type: "answer", status: 200, body }, 1);
  const past = pastOf(on);
  await on.world.decide(ben, on.card, "Approve", "go");
  await on.world.becomes(on.card, "checking", JSON.stringify(body));
  expect(claims(past)).toBe(false);
  await on.world.becomes(on.card, "approved");
  const sent = { decision: "approve", reason: "go" };
  expect(on.decisions()).toEqual([sent, sent]);
}

const unconfirmed = stories(26, 1, [
  [
    "the service fails: no card claims what is not confirmed",
    async (on) => {
      const fault = on.world.service.control.fault(DECIDE, { type: "answer", status: 503 }, 1);
      const past = pastOf(on);
      await on.world.decide(ben, on.card, "Approve", "go");
      await on.world.until(() => fault.hits() > 0);
      expect(claims(past)).toBe(false);
      await on.world.becomes(on.card, "approved");
      const answered = on.world.decisionPosts().filter(({ path }) => path.includes(on.run)).length;
      expect(answered).toBeGreaterThan(0);
    },
  ],
  ...NO_WITH_200.map((body): Row => [
    `the service says no with HTTP 200: ${JSON.stringify(body)}`,
    (on) => quotedThenConfirmed(on, body),
  ]),
  [
    "the service only accepts the decision (HTTP 202), and no longer lists the approval",
    async (on) => {
      const body = { id: on.approval, status: "approved" };
      on.world.service.control.fault(DECIDE, { type: "answer", status: 202, body, effect: true }, 1);
      const past = pastOf(on);
      await on.world.decide(ben, on.card, "Approve", "go");
      await on.world.becomes(on.card, "unconfirmed", "HTTP 202");
      expect(says("cause:no-longer-listed", on.card)).toBe(true);
      expect(claims(past)).toBe(false);
      expect(on.decisions()).toEqual([{ decision: "approve", reason: "go" }]);
    },
  ],
]);

const silence = stories(27, 1, [
  [
    "a form that is opened and closed sends nothing",
    async (on) => {
      const { id } = await on.world.openForm(ben, on.card, "Approve");
      await on.world.slack.acts.close(ben, id);
      await on.world.command(ana, opsAgents, "help");
      expect(on.decisions()).toEqual([]);
    },
  ],
  [
    "a restart with a pending approval sends nothing",
    async (on) => {
      await on.world.stopApp();
      await on.world.startApp();
      await on.world.openForm(ben, on.card, "Deny").then(({ id }) => on.world.slack.acts.close(ben, id));
      expect(on.decisions()).toEqual([]);
    },
  ],
  [
    "a denial without a reason sends nothing",
    async (on) => {
      const form = await on.world.openForm(ben, on.card, "Deny");
      await on.world.fillModal(ben, "\u200B \u00AD");
      expect(modalSays(form, "refusal:reason-needed")).toBe(true);
      await on.world.slack.acts.close(ben, form.id);
      expect(on.decisions()).toEqual([]);
    },
  ],
]);

const elsewhere = stories(28, 1, [
  [
    "two runs with the same words: the card that is clicked decides",
    async (on) => {
      const twin = await on.world.asking(ana, opsAgents, "deploy billing-api to production twin");
      const { id } = await on.world.runAt("deploy billing-api to production twin");
      await on.world.decide(ben, on.card, "Approve", "this one");
      await on.world.becomes(on.card, "approved");
      expect(on.decisions()).toEqual([{ decision: "approve", reason: "this one" }]);
      expect(on.world.decisionPosts().filter(({ path }) => path.includes(id))).toEqual([]);
      expect(buttonsOf(twin.card)).toEqual(["Approve", "Deny"]);
    },
  ],
]);

const twice = stories(29, 1, [
  [
    "one submit ten times at once",
    async (on) => {
      const form = await on.world.openForm(ben, on.card, "Approve");
      await Promise.all(Array.from({ length: 10 }, () => on.world.forgeSubmit(ben, form, "one")));
      await on.world.becomes(on.card, "approved");
      expect(on.decisions()).toEqual([{ decision: "approve", reason: "one" }]);
      await on.world.slack.acts.close(ben, form.id);
    },
  ],
  [
    "ten submits with ten reasons at once",
    async (on) => {
      const form = await on.world.openForm(ben, on.card, "Approve");
      on.refused("already-decided");
      await Promise.all(
        Array.from({ length: 10 }, (_, at) => on.world.forgeSubmit(ben, form, `reason ${at}`)),
      );
      await on.world.becomes(on.card, ["approved", "denied"]);
      expect(on.decisions()).toHaveLength(1);
      await on.world.slack.acts.close(ben, form.id);
    },
  ],
  [
    "two people, two verdicts, at once",
    async (on) => {
      const forms = [
        await on.world.openForm(ben, on.card, "Approve"),
        await on.world.openForm(cat, on.card, "Deny"),
      ];
      await Promise.all([on.world.fillModal(ben, "yes"), on.world.fillModal(cat, "no")]);
      await on.world.becomes(on.card, ["approved", "denied"]);
      expect(on.decisions()).toHaveLength(1);
      for (const { id, person } of forms) await on.world.slack.acts.close(person, id);
    },
  ],
]);

const REASONS = [
  " spaces kept \n",
  '«quotes» "and" \\backslash\\',
  "<!channel> & <b>",
  "зачем? 👩‍💻 e\u0301",
  "a\u202Eb",
];
const reasons = stories(
  30,
  1,
  REASONS.map((reason): Row => [
    `a reason like ${JSON.stringify(reason)} arrives byte for byte`,
    async (on) => {
      await on.world.decide(ben, on.card, "Approve", reason);
      await on.world.becomes(on.card, "approved");
      expect(on.decisions()).toEqual([{ decision: "approve", reason }]);
    },
  ]),
);

const late = stories(31, 1, [
  [
    "an old click after the approval was resolved elsewhere",
    async (on) => {
      const { id } = await on.world.openForm(ben, on.card, "Approve");
      const click = on.world.lastPayload("block_actions");
      await on.world.slack.acts.close(ben, id);
      on.world.service.control.resolveElsewhere(on.run, on.approval, { verdict: "deny", reason: "by hand" });
      await on.world.until(
        () => buttonsOf(on.card).length === 0,
        () => textOf(on.card),
      );
      on.refused("closed");
      await on.world.deliver(click);
      await on.world.told(ben, "refusal:closed");
      expect(on.world.hasForm(ben)).toBe(false);
      expect(on.decisions()).toEqual([]);
    },
  ],
  [
    "an old click after the run was canceled",
    async (on) => {
      const { id } = await on.world.openForm(ben, on.card, "Approve");
      const click = on.world.lastPayload("block_actions");
      await on.world.slack.acts.close(ben, id);
      on.world.service.control.cancel(on.run, "not needed");
      await on.world.until(
        () => buttonsOf(on.card).length === 0,
        () => textOf(on.card),
      );
      on.refused("closed");
      await on.world.deliver(click);
      await on.world.told(ben, "refusal:closed");
      expect(on.decisions()).toEqual([]);
    },
  ],
]);

export const storyCases: readonly Attack<Story>[] = [
  ...stolen,
  ...content,
  ...reused,
  ...between,
  ...withheld,
  ...rawStories(meanwhile),
  ...restarted,
  ...unconfirmed,
  ...silence,
  ...elsewhere,
  ...twice,
  ...reasons,
  ...late,
];
