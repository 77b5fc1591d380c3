// Attacks under a policy file: people whom no rule names, people whom a rule named until a moment ago, and requests that evade rules.

import type { Json } from "#src/domain/json.ts";
import type { Refusal } from "#src/domain/authorization.ts";
import type { OpenView } from "#sandbox/slack/model.ts";
import { buttonsOf, modalSays, modalText } from "../make/journey-sight.ts";
import { cardStateOf, type Saying, saysInJson } from "../make/message-id.ts";
import { ana, ben, cat, opsAgents, payments } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";

/** `rules` rewrites the policy file, which takes effect after a reload. */
export type Ruled = Story & { rules(text: string): void };

export const RULES = `rules:
  - name: by the group
    approvers: { groups: [S0APPROVERS] }
`;

type Row = readonly [what: string, attack: (on: Ruled) => Promise<void>];
const ruled = (kind: number, from: number, rows: readonly Row[]): readonly Attack<Ruled>[] =>
  attacks<Ruled, Row>(kind, from, rows, (on, [, attack]) => attack(on));

/** How long Slack's answer about a group is reused (ms). */
const SHARED_MS = 5_000;

/** Ben opens the form while he may decide. Then something happens, and his submit is refused. */
const meanwhile =
  (happens: (on: Ruled) => void | Promise<void>, because: Refusal["type"]) =>
  async (on: Ruled): Promise<void> => {
    const form = await on.world.openForm(ben, on.card, "Approve");
    await on.world.lateBy(SHARED_MS);
    await happens(on);
    on.refused(because);
    const submit = because === "unverified" ? on.world.fillModal : on.world.submitVerified;
    await submit(ben, "as I was allowed");
    await on.world.until(
      () => modalSays(form, `refusal:${because}`),
      () => JSON.stringify(form.view.blocks),
    );
    await on.world.slack.acts.close(ben, form.id);
  };

const newRules =
  (text: string) =>
  async (on: Ruled): Promise<void> => {
    on.rules(text);
    await on.world.reload();
  };

/** Under these rules, this person's click is refused. */
const under =
  (rules: string, person: string, because: Refusal["type"] = "not-approver") =>
  async (on: Ruled): Promise<void> => {
    await newRules(rules)(on);
    on.refused(because, person);
    await on.world.isRefused(person, on.card, "Approve", because);
  };

const elsewhere = `rules:\n  - { name: other, when: { channel: C0RELEASES }, approvers: anyone }\n`;
const denies = `rules:\n  - { name: late, approvers: anyone, expiry: { after: 1 h, outcome: deny } }\n`;
const held = `rules:\n  - { name: by the group, approvers: { groups: [S0APPROVERS] }, hold: 7 s }\n`;
const harmlessFirst = `rules:
  - { name: harmless, when: { field: { "target.env": staging } }, approvers: anyone }
  - { name: strict, approvers: { users: [${cat}] } }
`;
const byName = (name: string): string => `rules:\n  - { name: ${name}, approvers: { users: [${cat}] } }\n`;

const leaves = ({ world }: Ruled): void => {
  const group = world.slack.workspace.usergroups.get("S0APPROVERS");
  if (group !== undefined) group.users = [cat];
};

/** Ben approves while he may. Something happens while the approval is held, so it is not sent, and the card says why. */
const stopped =
  (happens: (on: Ruled) => void | Promise<void>, says: Saying) =>
  async (on: Ruled): Promise<void> => {
    await newRules(held)(on);
    await on.world.decide(ben, on.card, "Approve", "while I may");
    await on.world.becomes(on.card, "held");
    await on.world.lateBy(SHARED_MS);
    await happens(on);
    await on.world.becomes(on.card, says);
  };

/** The request poses as a harmless one. It still falls under the strict rule, and Ben is refused. */
const posing = (details: Record<string, Json>) => changed({ details });

const changed = (to: object) => async (on: Ruled) => {
  await newRules(harmlessFirst)(on);
  on.world.service.control.changeApproval(on.run, on.approval, to);
  await on.world.becomes(on.card, "v2");
  on.refused("not-approver");
  await on.world.isRefused(ben, on.card, "Approve", "not-approver");
};

/** Ben's approval is held. A forged press of Undo in his window is refused, and the approval stays held. */
const pressesUndo =
  (by: string, valueOf: (window: OpenView, on: Ruled) => string, because: Refusal["type"]) =>
  async (on: Ruled): Promise<void> => {
    await newRules(held.replace("7 s", "10 min"))(on);
    const window = await on.world.openForm(ben, on.card, "Approve");
    const click = on.world.lastPayload("block_actions");
    await on.world.fillModal(ben, "while I may");
    await on.world.becomes(on.card, "held");
    on.refused(because, by);
    const press = { action_id: "window_undo", block_id: "undo", value: valueOf(window, on) };
    const view = { ...window.view, id: window.id, hash: window.hash };
    await on.world.deliver({ ...click, user: { id: by }, view, actions: [press] });
    await on.world.until(
      () => modalSays(window, `refusal:${because}`),
      () => modalText(window),
    );
    if (cardStateOf(on.card) !== "held") throw new Error(`the card is ${cardStateOf(on.card)}`);
    await on.world.slack.acts.close(ben, window.id);
  };

const nonceIn = ({ view }: OpenView): string => /"value":"([\w-]{22})"/.exec(JSON.stringify(view))?.[1] ?? "";

const takingBack = ruled(6, 70, [
  ["Undo in another person's window", pressesUndo(cat, nonceIn, "unknown")],
  ["Undo in a window with a made-up value", pressesUndo(ben, () => "U".repeat(22), "unknown")],
  [
    "Undo in a window with the value of the card's button",
    pressesUndo(ben, (_, { card }) => buttonValue(card), "unknown"),
  ],
]);

const buttonValue = ({ blocks }: Story["card"]): string =>
  /"value":"([\w-]{22})"/.exec(JSON.stringify(blocks))?.[1] ?? "";

const READ_FIRST = `rules:\n  - { name: read, approvers: anyone, friction: { read-first: true } }\n`;
const readingOf = async (on: Ruled, person = ben): Promise<OpenView> => {
  const view = await on.world.openForm(person, on.card, "Approve");
  if (!modalSays(view, "form:read-first")) throw new Error(`no window for reading: ${modalText(view)}`);
  return view;
};

/** A submit that Slack's own client would not send is refused, and its person does not count as having read the request. */
const forged = async (
  on: Ruled,
  submit: { readonly person: string; readonly view: OpenView },
  because: Refusal["type"],
): Promise<void> => {
  const { person, view } = submit;
  on.refused(because, person);
  const told = JSON.stringify(await on.world.forgeSubmit(person, view, "let it through"));
  if (!saysInJson(`refusal:${because}`, told)) throw new Error(`unexpected answer: ${told}`);
};

/** Returns a window that claims to be of another kind. */
const passedOff = (view: OpenView, callback_id: string): OpenView => ({
  ...view,
  view: { ...view.view, callback_id },
});

const reading = ruled(8, 20, [
  [
    "Continue in a window that another person opened",
    async (on) => {
      await newRules(READ_FIRST)(on);
      const view = await readingOf(on);
      await forged(on, { person: cat, view }, "unknown");
      await readingOf(on, cat);
    },
  ],
  [
    "a decision with the window that is only for reading",
    async (on) => {
      await newRules(READ_FIRST)(on);
      const view = await readingOf(on);
      await forged(on, { person: ben, view: passedOff(view, "decision_modal") }, "unknown");
    },
  ],
  [
    "Continue with a form that was opened before the rule wanted the request read",
    async (on) => {
      await newRules(`rules:\n  - { name: free, approvers: anyone }\n`)(on);
      const view = await on.world.openForm(ben, on.card, "Approve");
      await newRules(READ_FIRST)(on);
      await forged(on, { person: ben, view: passedOff(view, "reading_modal") }, "unknown");
      await on.world.slack.acts.close(ben, view.id);
      await readingOf(on);
    },
  ],
  [
    "Continue for a request that has changed since",
    async (on) => {
      await newRules(READ_FIRST)(on);
      const view = await readingOf(on);
      on.world.service.control.changeApproval(on.run, on.approval, { action: "deploy everything" });
      await on.world.becomes(on.card, "v2");
      on.refused("changed");
      const told = JSON.stringify(await on.world.forgeSubmit(ben, view, null));
      if (!saysInJson("form:changed", told)) throw new Error(`unexpected answer: ${told}`);
      await on.world.slack.acts.close(ben, view.id);
      await readingOf(on);
    },
  ],
  [
    "Continue sent again after the request was withdrawn",
    async (on) => {
      await newRules(READ_FIRST)(on);
      const view = await readingOf(on);
      await on.world.forgeSubmit(ben, view, null);
      on.world.service.control.withdrawApproval(on.run, on.approval);
      await on.world.becomes(on.card, "closed");
      await forged(on, { person: ben, view }, "closed");
    },
  ],
]);

export const ruledCases: readonly Attack<Ruled>[] = [
  ...reading,
  ...takingBack,
  ...ruled(8, 17, [
    ["a member whom no rule names", under(byName("others"), ben)],
    [
      "a member of a channel, where another channel's members decide",
      under(`rules:\n  - { name: payers, approvers: { channels: [${payments}] } }\n`, cat),
    ],
    ["a form opened before the policy changed", meanwhile(newRules(byName("others")), "not-approver")],
  ]),
  ...ruled(9, 13, [["no rule fits: no one may decide", under(elsewhere, ben)]]),
  ...ruled(10, 6, [
    [
      "the requester, whom the rule names",
      under(`rules:\n  - { name: own, approvers: { users: [${ana}] } }\n`, ana, "requester"),
    ],
  ]),
  ...ruled(15, 3, [
    [
      "an approval that is held when its giver's account is closed",
      stopped(({ world }) => world.slack.faults.deactivate(ben), "past:1:voter-may-not"),
    ],
    ["an approval that is held when its giver leaves the group", stopped(leaves, "past:1:voter-may-not")],
    [
      "an approval that is held when the policy lets others decide",
      stopped(newRules(byName("others")), "past:1:voter-may-not"),
    ],
    [
      "an approval that is held while Slack does not say who its giver is",
      stopped(({ world }) => world.slack.faults.next("users.info", { http: 500 }, 50), "retrying"),
    ],
  ]),
  ...ruled(22, 6, [
    ["a list of which one element is harmless", posing({ target: { env: ["staging", "production"] } })],
    [
      "a decoy that is named like the path",
      posing({ target: { env: "production" }, "target.env": "staging" }),
    ],
    ["a decoy alone", posing({ "target.env": "staging" })],
    [
      "a harmless record beside the real one",
      posing({ target: [{ env: "staging" }, { env: "production" }] }),
    ],
    ["a harmless record inside the request", posing({ request: { target: { env: "staging" } } })],
    ["an invisible character", posing({ target: { env: "stag\u200Bing" } })],
    ["wide letters", posing({ target: { env: "ｓｔａｇｉｎｇ" } })],
    ["another case", posing({ target: { env: "STAGING" } })],
    ["a second name in another case", posing({ target: { env: "staging", Env: "production" } })],
    [
      "a second record in another case",
      posing({ target: { env: "staging" }, Target: { env: "production" } }),
    ],
    [
      "a second name with another separator",
      posing({ target: { env: "staging" }, target_env: "production" }),
    ],
    ["other words than the strict rule's", changed({ action: "Roll out billing to the production cluster" })],
  ]),
  ...ruled(27, 4, [
    [
      "the requester lets the run go before the policy denies it",
      async (on) => {
        await newRules(denies)(on);
        await on.world.becomes(on.card, "rule:0-of-1");
        on.refused("denial-due", ana);
        await on.world.command(ana, opsAgents, `unwatch ${on.run}`);
        await on.world.told(ana, "command-refusal:denial-due");
        await on.world.until(() => buttonsOf(on.card).includes("Approve"));
      },
    ],
  ]),
  ...ruled(14, 10, [
    ["a member of the group who leaves it with the form open", meanwhile(leaves, "not-approver")],
    [
      "a member of a group that is disabled meanwhile",
      meanwhile(({ world }) => {
        const group = world.slack.workspace.usergroups.get("S0APPROVERS");
        if (group !== undefined) group.disabled = true;
      }, "unverified"),
    ],
    [
      "a member of a group that Slack can't list",
      meanwhile(({ world }) => world.slack.faults.next("usergroups.users.list", { http: 500 }), "unverified"),
    ],
  ]),
];
