// Validly signed payloads from Slack in the name of a person who may not do this, or with values that Slack's own client would not send.

import type { Message, OpenView } from "#sandbox/slack/model.ts";
import { ana, ben, bot, cat, guest, opsAgents, outsider, type Stage } from "../make/world.ts";
import type { Saying } from "../make/message-id.ts";
import { type Attack, attacks } from "./classes.ts";

/** The expected refusal. `because`: the refusal that the audit must hold afterwards, or null if the payload is no person's act. */
export type Expected = { readonly user: string; readonly because: string | null; readonly says: Saying };

export type People = {
  readonly world: Stage;
  /** The card of Ana's run in #ops-agents, and the card of another run. */
  readonly card: Message;
  readonly other: Message;
  /** The card of Ana's run in a private channel that Cat is not in. */
  readonly hidden: Message;
  readonly ids: { readonly run: string; readonly hidden: string; readonly approval: string };
  /** A form that Ben has opened on the card. */
  readonly form: OpenView;
  /** Resolves to a new click by Ben as Slack sends it. Its form is closed again. */
  click(on?: Message): Promise<Body>;
  /** Delivers an attack, and waits for the refusal. */
  refused(deliver: () => Promise<unknown>, expected: Expected): Promise<void>;
};

export type Body = { readonly [field: string]: unknown };
type Row = readonly [what: string, change: (on: People, click: Body) => Body, expected?: Partial<Expected>];

const GONE: Expected = { user: ben, because: "unknown", says: "refusal:unknown" };

const withAction = (click: Body, change: object): Body => {
  const [first] = click["actions"] as [object];
  return { ...click, actions: [{ ...first, ...change }] };
};
const withValue = (what: string, value: (on: People) => string): Row => [
  what,
  (on, click) => withAction(click, { value: value(on) }),
];

async function expectClickRefused(on: People, [, change, expected]: Row): Promise<void> {
  const click = await on.click();
  await on.refused(() => on.world.deliver(change(on, click)), { ...GONE, ...expected });
}

const buttonOf = (card: Message): string =>
  /"value":"([\w-]{22})"/.exec(JSON.stringify(card.blocks))?.[1] ?? "";

const forgedClicks = attacks<People, Row>(
  6,
  1,
  [
    withValue("a made-up nonce", () => "A".repeat(22)),
    withValue("a value that is not a nonce", () => "../../etc/passwd"),
    withValue("an empty value", () => ""),
    withValue("the approval's id as value", ({ ids }) => ids.approval),
    withValue("the run's id as value", ({ ids }) => ids.run),
    withValue("the form's nonce as value", ({ form }) => String(form.view["private_metadata"])),
    withValue("the name of a prototype", () => "__proto__"),
    withValue("a value of 2,000 characters", () => "x".repeat(2_000)),
    withValue("SQL in the value", () => "' or 1=1 --"),
    withValue("the button of another run", ({ other }) => buttonOf(other)),
    ["under another message", ({ other }, click) => ({ ...click, message: { ts: other.ts } })],
    ["in another channel", (_, click) => ({ ...click, channel: { id: "C0RELEASES" } })],
    [
      "the button of a private channel, under a public card",
      ({ hidden }, click) => withAction(click, { value: buttonOf(hidden) }),
    ],
    [
      "a request to read, with a made-up value",
      (_, click) => withAction(click, { action_id: "card_read", value: "B".repeat(22) }),
    ],
    [
      "the question after a lost start, with a made-up key",
      (_, click) => withAction(click, { action_id: "unknown_start_again", value: "abcdefgh" }),
      { because: "unknown-run", says: "answer:not-your-run" },
    ],
    [
      "that question, with no key",
      (_, click) => withAction(click, { action_id: "unknown_leave", value: "NO KEY" }),
    ],
  ],
  expectClickRefused,
);

type FormRow = readonly [
  what: string,
  view: (on: People) => Body,
  person?: string,
  expected?: Partial<Expected>,
];
const withMetadata = (what: string, metadata: (on: People) => string): FormRow => [
  what,
  (on) => ({ private_metadata: metadata(on) }),
];

async function expectSubmitRefused(on: People, [, change, person = ben, expected]: FormRow): Promise<void> {
  const { form, world } = on;
  const forged = { ...form, view: { ...form.view, ...change(on) } };
  await on.refused(() => world.forgeSubmit(person, forged, "let it through"), {
    ...GONE,
    user: person,
    ...expected,
  });
}

const startForm = (channel: string): Body => ({
  callback_id: "run_form",
  private_metadata: `${"C".repeat(22)} ${channel}`,
  blocks: [
    { type: "input", block_id: "task", element: { type: "plain_text_input", action_id: "task_text" } },
  ],
});

const forgedForms = attacks<People, FormRow>(
  6,
  17,
  [
    withMetadata("a form with a made-up nonce", () => "B".repeat(22)),
    withMetadata("a form without one", () => ""),
    withMetadata("a form with JSON in its place", () => '{"run":"x","verdict":"approve"}'),
    withMetadata("a form with a button's nonce", ({ card }) => buttonOf(card)),
    withMetadata("a form with the run's id", ({ ids }) => ids.run),
    withMetadata(
      "a form with the right nonce and something behind it",
      ({ form }) => `${String(form.view["private_metadata"])} x`,
    ),
    ["the form of another approver", () => ({}), cat],
    [
      "a start form with a decision's nonce",
      () => ({ callback_id: "run_form" }),
      ben,
      { says: "error:not-our-form" },
    ],
    [
      "a start form with a made-up channel",
      () => startForm("C0NOWHERE"),
      ben,
      { because: "hidden-channel", says: "command-refusal:hidden-channel" },
    ],
  ],
  expectSubmitRefused,
);

type Who = readonly [what: string, person: string, because: string, says: Saying];
const CLASSES: readonly Who[] = [
  ["the requester", ana, "requester", "refusal:requester"],
  ["a guest", guest, "guest", "refusal:guest"],
  ["a person from another workspace", outsider, "outsider", "refusal:outsider"],
  ["a bot", bot, "bot", "refusal:bot"],
  ["a deactivated person", "U0DEE", "deactivated", "refusal:deactivated"],
  ["Slack's own helper", "USLACKBOT", "bot", "refusal:bot"],
  ["this app itself", "U0COUNTERSIGN", "bot", "refusal:bot"],
  ["a person whom Slack does not know", "U0NOBODY", "unverified", "refusal:unverified"],
];

const asPerson = (click: Body, person: string): Body => ({ ...click, user: { id: person } });

const atTheButton = attacks<People, Who>(8, 1, CLASSES, async (on, [, user, because, says]) => {
  const click = await on.click();
  await on.refused(() => on.world.deliver(asPerson(click, user)), { user, because, says });
});
const atTheForm = attacks<People, Who>(8, 9, CLASSES, async (on, [, person]) => {
  await expectSubmitRefused(on, ["", () => ({}), person]);
});

const oneself = attacks<People, readonly [string, (on: People, click: Body) => Promise<void>]>(
  10,
  1,
  [
    [
      "the requester presses Deny",
      (on, click) =>
        on.refused(() => on.world.deliver(asPerson(withAction(click, { action_id: "card_deny" }), ana)), {
          user: ana,
          because: "requester",
          says: "refusal:requester",
        }),
    ],
    [
      "the requester, as a person from a partner's workspace",
      (on, click) =>
        on.refused(
          () =>
            on.world.deliver({
              ...click,
              user: { id: ana, team_id: "T0PARTNER" },
              team: { id: "T0PARTNER" },
            }),
          { user: ana, because: null, says: "answer:other-team" },
        ),
    ],
    ["the requester submits an approver's form", (on) => expectSubmitRefused(on, ["", () => ({}), ana])],
    [
      "the requester answers in a private channel's card",
      async (on) => {
        const click = await on.click(on.hidden);
        await on.refused(() => on.world.deliver(asPerson(click, ana)), {
          user: ana,
          because: "requester",
          says: "refusal:requester",
        });
      },
    ],
  ],
  async (on, [, attack]) => attack(on, await on.click()),
);

const forgedPeople = attacks<People, readonly [string, string, string, Saying]>(
  13,
  1,
  [
    ["someone with an approver's name", "U0FAKE", "guest", "refusal:guest"],
    ["an id of another kind", "W0BEN", "unverified", "refusal:unverified"],
    ["an id with a look-alike", "U0BENN", "unverified", "refusal:unverified"],
  ],
  async (on, [, user, because, says]) => {
    const click = await on.click();
    await on.refused(() => on.world.deliver(asPerson(click, user)), { user, because, says });
  },
);
const noIds = attacks<People, readonly [string, string]>(
  13,
  4,
  [
    ["an id in small letters", "u0ben"],
    ["an id with a blank", "U0BEN "],
    ["a name in the id's place", "Ben Okafor"],
    ["an address in the id's place", "ben@example.com"],
    ["a mention in the id's place", "<@U0BEN>"],
  ],
  async (on, [, user]) => {
    const { form, world } = on;
    // As a click, it is no person's act. As a form, it is kept open by the answer.
    await world.deliver(asPerson(await on.click(), user));
    await on.refused(() => world.forgeSubmit(user, form, "x"), {
      user,
      because: null,
      says: "answer:unread-payload",
    });
  },
);

const startsElsewhere = attacks<People, readonly [string, string, string, Saying]>(
  14,
  8,
  [
    [
      "a start in a private channel that the person is not in",
      cat,
      "not-in-channel",
      "command-refusal:not-in-channel",
    ],
    ["a guest's start in a private channel", guest, "guest", "command-refusal:guest"],
  ],
  (on, [, user, because, says]) =>
    expectSubmitRefused(on, ["", () => startForm("C0PAYMENTS"), user, { because, says }]),
);
const hiddenCards = attacks<People, readonly [string, string]>(
  14,
  5,
  [
    ["a click on a card of a channel that the person is not in", "card_approve"],
    ["a denial there", "card_deny"],
    ["a request to read there", "card_read"],
  ],
  async (on, [, action_id]) => {
    const click = await on.click(on.hidden);
    await on.refused(() => on.world.deliver(asPerson(withAction(click, { action_id }), cat)), {
      user: cat,
      because: "not-in-channel",
      says: "refusal:not-in-channel",
    });
  },
);

const takingBack = attacks<People, Row>(
  6,
  26,
  [
    [
      "an Undo with a made-up value",
      (_, click) => withAction(click, { action_id: "card_undo", value: "A".repeat(22) }),
    ],
    [
      "an Undo of a decision that is not held",
      (_, click) => withAction(click, { action_id: "card_undo" }),
      { because: "too-late", says: "refusal:too-late" },
    ],
    [
      '"This was not me" with the value of a card\'s button',
      (_, click) => withAction(click, { action_id: "receipt_not_me" }),
      { says: "answer:not-your-receipt" },
    ],
  ],
  expectClickRefused,
);

const runAgain = attacks<People, Row>(
  6,
  50,
  [
    [
      "Run again with a made-up key",
      (_, click) => withAction(click, { action_id: "run_again", value: "abcdefgh" }),
      { because: "unknown-run", says: "answer:task-not-kept" },
    ],
    [
      "Run again with a task as its value",
      (_, click) => withAction(click, { action_id: "run_again", value: "deploy billing-api to production" }),
      { says: "answer:task-not-kept" },
    ],
    [
      "Run again for an unfinished run, from another channel",
      (on, click) => ({
        ...withAction(click, { action_id: "run_again", value: keyOf(on.hidden) }),
        channel: { id: "C0OPSAGENTS" },
      }),
      { because: "unknown-run", says: "answer:task-not-kept" },
    ],
  ],
  expectClickRefused,
);

/** Returns the key of the run, which its Stop button holds. */
const keyOf = (card: Message): string =>
  /"action_id":"run_stop","value":"([0-9a-z]+)"/.exec(JSON.stringify(card.blocks))?.[1] ?? "";

/** Delivers these instead of Ben's press on the offer to start what he typed. */
const suggestedRuns = attacks<People, readonly [string, (offer: string) => Body, string?]>(
  6,
  44,
  [
    ["a suggested run with a made-up value", () => ({ value: "D".repeat(22) })],
    ["a suggested run with a task as its value", () => ({ value: "deploy billing-api to production" })],
    ["a suggested run of someone else", (value) => ({ value }), cat],
    ["a suggested run in another channel", (value) => ({ value, channel: { id: "C0RELEASES" } })],
    ["a suggested run with another task", (value) => ({ value: withTask(value, "delete production") })],
    ["a suggested run with another nonce", (value) => ({ value: `${"D".repeat(22)}${value.slice(22)}` })],
  ],
  async (on, [, change, user = ben]) => {
    const offer = await offered(on.world);
    const { value, ...where } = change(offerOf(offer));
    const click = withAction(await on.click(), { action_id: "run_suggested", value });
    await on.refused(() => on.world.deliver({ ...click, ...where, user: { id: user } }), {
      user,
      because: "unknown",
      says: "answer:suggestion-invalid",
    });
  },
);

const offerOf = (offer: Message): string =>
  /"value":"([\w-]{22}\.[^"]+)"/.exec(JSON.stringify(offer.blocks))?.[1] ?? "";

function withTask(value: string, task: string): string {
  const [nonce, , mac] = value.split(".");
  return `${nonce}.${Buffer.from(task).toString("base64url")}.${mac}`;
}

async function offered(world: Stage): Promise<Message> {
  const before = new Set(world.ephemeralMessages(ben));
  await world.command(ben, opsAgents, "deploy billing-api to production");
  return world.until(() => world.ephemeralMessages(ben).find((each) => !before.has(each)));
}

export const peopleCases: readonly Attack<People>[] = [
  ...forgedClicks,
  ...forgedForms,
  ...takingBack,
  ...suggestedRuns,
  ...runAgain,
  ...atTheButton,
  ...atTheForm,
  ...oneself,
  ...forgedPeople,
  ...noIds,
  ...hiddenCards,
  ...startsElsewhere,
];
