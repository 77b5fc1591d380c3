// What people and the service see, for tests.

import type { Block, Message, OpenView } from "#sandbox/slack/model.ts";
import type { World } from "#sandbox/world/world.ts";
import { cardStateOf, idOf, says, type Saying } from "./message-id.ts";

export type Sight = ReturnType<typeof createSight>;

type PrivatelySaid = { readonly text: string; says(id: Saying): boolean };

type Drawn = { readonly blocks: readonly Block[] };

/** A time limit that only a bug exceeds (ms), even on a busy machine. */
const PATIENCE_MS = 45_000;

/** `logged` is the app's log, one JSON line per entry. */
export function createSight(world: World, logged: readonly string[] = []) {
  const { slack, service } = world;
  const { workspace } = slack;
  const app = workspace.app.person;

  /** Calls `probe` now and after every change, and resolves to its first truthy result. A timeout rejects with the current state. */
  function until<T>(probe: () => T | undefined | null | false, currentState: () => string = all): Promise<T> {
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
    const late = (): void =>
      reject(
        new Error(
          [
            `timed out waiting for: ${probe.toString()}`,
            "current state:",
            currentState(),
            "end of the log:",
            ...logged.slice(-20),
          ].join("\n"),
        ),
      );
    const timer = setTimeout(late, PATIENCE_MS);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      for (const end of ends) end();
    });
  }

  const all = (): string => workspace.messages.map((each) => `${each.ts} ${textOf(each)}`).join("\n---\n");

  /** The app's messages that everyone can see. */
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

  /** Resolves to the run's card when it is posted. */
  const cardOf = (opening: Message, nth = 0): Promise<Message> => until(() => cardsOf(opening)[nth]);

  /** Resolves to the message when it has one of these ids (for a card, its state) and shows these words of people or the service. */
  const becomes = (
    message: Message,
    id: Saying | readonly Saying[],
    ...words: readonly string[]
  ): Promise<Message> =>
    until(
      () => [id].flat().some((each) => says(each, message)) && shows(textOf(message), words) && message,
      () =>
        `${idOf(message)}: ${textOf(message)}\n(wanted: ${[id, words].flat().join(" | ")})\nall:\n${all()}`,
    );

  /** Resolves to the message when it shows these words of people, of the service or of the rule. */
  const reads = (message: Message, ...words: readonly string[]): Promise<Message> =>
    until(
      () => shows(textOf(message), words) && message,
      () => `${textOf(message)}\n(wanted: ${words.join(" | ")})\nall:\n${all()}`,
    );

  /** Resolves to a message of the run's thread that has this id and these words of people or of the service. */
  const saidIn = (opening: Message, id: Saying, ...words: readonly string[]): Promise<Message> =>
    until(() => threadOf(opening).find((each) => says(id, each) && shows(textOf(each), words)));

  const ephemeralMessages = (person: string): Message[] =>
    workspace.messages.filter(({ ephemeralFor }) => ephemeralFor === person);
  const ephemeralsFor = (person: string): string[] => ephemeralMessages(person).map((each) => textOf(each));

  const viewOf = (person: string): OpenView | undefined => workspace.viewsOf(person).at(-1);
  const isDirect = (id: string, person: string): boolean => {
    const channel = workspace.channels.get(id);
    return channel?.kind === "dm" && channel.members.includes(person);
  };
  const directTo = (person: string): Message[] => posted().filter(({ channel }) => isDirect(channel, person));
  /** What only this person currently sees: private messages, direct messages and the topmost modal. */
  const privately = (person: string): PrivatelySaid[] => {
    const view = viewOf(person);
    const messages = [...ephemeralMessages(person), ...directTo(person)];
    return [
      ...messages.map((each) => ({ text: textOf(each), says: (id: Saying) => says(id, each) })),
      ...(view === undefined ? [] : [{ text: modalText(view), says: (id: Saying) => modalSays(view, id) }]),
    ];
  };

  /** Resolves to the text of a private message or modal of this person that has one of these ids and contains these words. */
  const told = async (
    person: string,
    id: Saying | readonly Saying[],
    ...words: readonly string[]
  ): Promise<string> => {
    const found = await until(
      () =>
        privately(person).find(
          (each) => [id].flat().some((one) => each.says(one)) && shows(each.text, words),
        ),
      () =>
        `${privately(person)
          .map(({ text }) => text)
          .join("\n---\n")}\n(wanted: ${[id, ...words].join(" | ")})\nall:\n${all()}`,
    );
    return found.text;
  };
  /** Whether the person has a form open that can be submitted. */
  const hasForm = (person: string): boolean => viewOf(person)?.view["submit"] !== undefined;

  /** Resolves to the person's topmost modal when one is open, with this id if given. */
  const modalOf = (person: string, id?: Saying): Promise<OpenView> =>
    until(() => {
      const view = viewOf(person);
      return view !== undefined && (id === undefined || modalSays(view, id)) && view;
    });

  /** Returns a live list of the states of the card from now on, oldest first. */
  function followedStates(card: Message): readonly (string | null)[] {
    const states = [cardStateOf(card)];
    workspace.onChange(() => states.at(-1) !== cardStateOf(card) && states.push(cardStateOf(card)));
    return states;
  }

  /** Returns a live list of the texts of the message from now on, oldest first. */
  function followed(message: Message): readonly string[] {
    const said = [textOf(message)];
    workspace.onChange(() => said.at(-1) !== textOf(message) && said.push(textOf(message)));
    return said;
  }

  /** Waits until this many ms have passed, checked after every change. For answers that may be cached for a while. */
  async function lateBy(ms: number): Promise<void> {
    const since = Date.now();
    await until(() => Date.now() - since > ms);
  }

  /** The bodies that have arrived in full. */
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
    ephemeralMessages,
    directTo,
    privately,
    told,
    hasForm,
    viewOf,
    modalOf,
    followed,
    followedStates,
    lateBy,
    decisionPosts: () => bodies("decide"),
    /** Every decision that the service received, oldest first. */
    decisions: () =>
      bodies("decide").map(({ body }) => JSON.parse(body) as { decision: string; reason: string }),
    /** Every task that the service received, oldest first. */
    tasksSent: () => bodies("create-run").map(({ body }) => (JSON.parse(body) as { input: string }).input),
    /** The newest payload of this kind that Slack sent the app. */
    lastPayload: (
      what: "slash_commands" | "block_actions" | "view_submission" | "message_action",
    ): Record<string, unknown> => {
      const line = slack.traffic.lines().findLast((each) => each.from === "slack" && each.what === what);
      const { payload } = (line ?? { detail: {} }).detail as { payload?: { body: Record<string, unknown> } };
      if (payload === undefined) throw new Error(`Slack has not sent ${what} yet`);
      return payload.body;
    },
  };
}

/** Returns all text that a reader sees in the blocks. People appear as `@U…`. */
export function textOf({ blocks, ...rest }: Drawn & { readonly text?: string }): string {
  return blocks.length === 0 ? (rest.text ?? "") : wordsIn(blocks).join("");
}

/** Whether the modal has this id, or this error at a field. */
export const modalSays = ({ view, errors }: OpenView, id: Saying): boolean =>
  says(id, view, Object.values(errors));

const shows = (text: string, words: readonly string[]): boolean => words.every((each) => text.includes(each));

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

/** Returns all elements in the blocks, at any depth. */
export function elementsOf(value: unknown): { readonly [name: string]: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((each) => elementsOf(each));
  if (typeof value !== "object" || value === null) return [];
  return [
    Object.fromEntries(Object.entries(value)),
    ...Object.values(value).flatMap((each) => elementsOf(each)),
  ];
}

/** Buttons that every waiting card has. */
const BESIDE_DECIDING = new Set(["Details", "Stop", "I'm looking at it"]);

/** Returns the labels of all buttons, except those that every waiting card has. */
export function buttonsOf({ blocks }: Drawn): string[] {
  return elementsOf(blocks)
    .filter(({ type }) => type === "button")
    .map((each) => textOf({ blocks: [], text: labelOf(each) }))
    .filter((label) => !BESIDE_DECIDING.has(label));
}

export function labelOf({ text }: { readonly [name: string]: unknown }): string {
  return typeof text === "object" && text !== null && "text" in text ? String(text.text) : "";
}
