// What people and the service see, as tests ask for it.

import type { Block, Message, OpenView } from "#sandbox/slack/model.ts";
import type { World } from "#sandbox/world/world.ts";
import type { CardStateName } from "#src/adapters/slack/blocks/card-state.ts";
import { cardStateOf, isInState } from "./card-state.ts";

export type Sight = ReturnType<typeof createSight>;

type Drawn = { readonly blocks: readonly Block[] };

/** Nothing takes this long but a fault of ours (ms); other people use this machine too. */
const PATIENCE_MS = 20_000;

export function createSight(world: World) {
  const { slack, service } = world;
  const { workspace } = slack;
  const app = workspace.app.person;

  /** The first truthy answer, asked now and after every change. A timeout reports the state instead. */
  function until<T>(probe: () => T | undefined | null | false, there: () => string = all): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const look = (): void => {
      try {
        const found = probe();
        if (found) resolve(found);
      } catch (error) {
        reject(error);
      }
    };
    const { onChange } = workspace;
    const { subscribe: onRun } = service.runs;
    const { subscribe: onRequest } = service.requests;
    const ends = [onChange(look), slack.traffic.onLine(look), onRun(look), onRequest(look)];
    const late = (): void => reject(new Error(`still not so; instead there is:\n${there()}`));
    const timer = setTimeout(late, PATIENCE_MS);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      for (const end of ends) end();
    });
  }

  const all = (): string => workspace.messages.map((each) => `${each.ts} ${textOf(each)}`).join("\n---\n");

  /** Our messages that everybody sees. */
  const posted = (channel?: string): Message[] =>
    workspace.messages.filter(
      (each) =>
        each.author === app &&
        each.ephemeralFor === null &&
        (channel === undefined || each.channel === channel),
    );
  const threadOf = ({ channel, ts }: Message): Message[] =>
    posted(channel).filter(({ thread }) => thread === ts);
  const cardsOf = (opening: Message): Message[] => threadOf(opening).filter(({ broadcast }) => broadcast);

  /** The run's card, as soon as it is there. */
  const cardOf = (opening: Message, nth = 0): Promise<Message> => until(() => cardsOf(opening)[nth]);

  /** The card, as soon as it is in (one of) these states. `words`: what people or the service said, which it must show too. */
  const becomes = (
    card: Message,
    state: CardStateName | readonly CardStateName[],
    ...words: readonly string[]
  ): Promise<Message> =>
    until(
      () => isInState(card, ...[state].flat()) && words.every((each) => textOf(card).includes(each)) && card,
      () =>
        `${cardStateOf(card)}: ${textOf(card)}\n(wanted: ${[state, words].flat().join(" | ")})\nall:\n${all()}`,
    );

  /** The message, as soon as it reads so. */
  const reads = (message: Message, ...words: readonly string[]): Promise<Message> =>
    until(
      () => words.every((each) => textOf(message).includes(each)) && message,
      () => `${textOf(message)}\n(wanted: ${words.join(" | ")})\nall:\n${all()}`,
    );

  /** A message of the run's thread with these words in it. */
  const saidIn = (opening: Message, words: string): Promise<Message> =>
    until(() => threadOf(opening).find((each) => textOf(each).includes(words)));

  const ephemeralsFor = (person: string): string[] =>
    workspace.messages.filter(({ ephemeralFor }) => ephemeralFor === person).map((each) => textOf(each));

  const viewOf = (person: string): OpenView | undefined => workspace.viewsOf(person).at(-1);
  const isDirect = (id: string, person: string): boolean => {
    const channel = workspace.channels.get(id);
    return channel?.kind === "dm" && channel.members.includes(person);
  };
  /** What only this person sees now: private messages, direct ones, and the topmost modal. */
  const privately = (person: string): string[] => {
    const view = viewOf(person);
    const direct = posted().filter(({ channel }) => isDirect(channel, person));
    return [
      ...ephemeralsFor(person),
      ...direct.map((each) => textOf(each)),
      ...(view === undefined ? [] : [modalText(view)]),
    ];
  };

  /** Waits for a private notice or a modal of this person with these words. */
  const told = (person: string, words: string): Promise<string> =>
    until(
      () => privately(person).find((each) => each.includes(words)),
      () => `${privately(person).join("\n---\n")}\n(wanted: ${words})\nall:\n${all()}`,
    );
  /** Has the person a form open that could be submitted? */
  const hasForm = (person: string): boolean => viewOf(person)?.view["submit"] !== undefined;

  /** The topmost modal that this person has open, as soon as there is one (with these words). */
  const modalOf = (person: string, words = ""): Promise<OpenView> =>
    until(() => {
      const view = viewOf(person);
      return view !== undefined && modalText(view).includes(words) && view;
    });

  /** All states that the card has had since now, oldest first. */
  function followedStates(card: Message): readonly (string | null)[] {
    const states = [cardStateOf(card)];
    workspace.onChange(() => states.at(-1) !== cardStateOf(card) && states.push(cardStateOf(card)));
    return states;
  }

  /** All that the message has said since now, oldest first. */
  function followed(message: Message): readonly string[] {
    const said = [textOf(message)];
    workspace.onChange(() => said.at(-1) !== textOf(message) && said.push(textOf(message)));
    return said;
  }

  /** Waits until this many ms have passed, checked after every change: for answers that may be shared for a while. */
  async function lateBy(ms: number): Promise<void> {
    const since = Date.now();
    await until(() => Date.now() - since > ms);
  }

  /** Those that have arrived in full. */
  const bodies = (route: string) =>
    service.requests
      .all({ method: "POST", route })
      .flatMap(({ path, body }) => (body === null ? [] : [{ path, body }]));

  return {
    until,
    posted,
    threadOf,
    cardsOf,
    cardOf,
    becomes,
    reads,
    saidIn,
    ephemeralsFor,
    privately,
    told,
    hasForm,
    viewOf,
    modalOf,
    followed,
    followedStates,
    lateBy,
    decisionPosts: () => bodies("decide"),
    /** Every decision the service was sent, oldest first. */
    decisions: () =>
      bodies("decide").map(({ body }) => JSON.parse(body) as { decision: string; reason: string }),
    /** Every task the service was sent, oldest first. */
    tasksSent: () => bodies("create-run").map(({ body }) => (JSON.parse(body) as { input: string }).input),
    /** The newest payload of this kind that Slack sent the app. */
    lastPayload: (what: "slash_commands" | "block_actions" | "view_submission"): Record<string, unknown> => {
      const line = slack.traffic.lines().findLast((each) => each.from === "slack" && each.what === what);
      const { payload } = (line ?? { detail: {} }).detail as { payload?: { body: Record<string, unknown> } };
      if (payload === undefined) throw new Error(`Slack sent no ${what} yet`);
      return payload.body;
    },
  };
}

/** All text that a reader sees in the blocks, joined; people are `@U…`. */
export function textOf({ blocks, ...rest }: Drawn & { readonly text?: string }): string {
  return blocks.length === 0 ? (rest.text ?? "") : wordsIn(blocks).join("");
}

export function modalText({ view, errors }: OpenView): string {
  return [...wordsIn([view["title"], view.blocks, view["submit"]]), ...Object.values(errors)].join("\n");
}

function wordsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => wordsIn(each));
  if (typeof value !== "object" || value === null) return [];
  const fields = new Map<string, unknown>(Object.entries(value));
  if (fields.get("type") === "user") return [`@${String(fields.get("user_id"))}`];
  const own = fields.get("text");
  const inner = ["text", "elements", "fields", "element", "label", "hint"].flatMap((name) =>
    wordsIn(fields.get(name)),
  );
  return [...(typeof own === "string" ? [own] : []), ...inner, ...(endsLine(fields) ? ["\n"] : [])];
}

const endsLine = (fields: ReadonlyMap<string, unknown>): boolean =>
  fields.has("block_id") || String(fields.get("type")).startsWith("rich_text_");

/** All elements in the blocks, at any depth. */
export function elementsOf(value: unknown): { readonly [name: string]: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((each) => elementsOf(each));
  if (typeof value !== "object" || value === null) return [];
  return [
    Object.fromEntries(Object.entries(value)),
    ...Object.values(value).flatMap((each) => elementsOf(each)),
  ];
}

/** What can be clicked, by its label. */
export function buttonsOf({ blocks }: Drawn): string[] {
  return elementsOf(blocks)
    .filter(({ type }) => type === "button")
    .map((each) => textOf({ blocks: [], text: labelOf(each) }));
}

export function labelOf({ text }: { readonly [name: string]: unknown }): string {
  return typeof text === "object" && text !== null && "text" in text ? String(text.text) : "";
}
