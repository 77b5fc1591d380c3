// How a person uses each kind of element.

import type { types } from "@slack/bolt";

const [ana, ben, ops] = ["U0ANA", "U0BEN", "C0OPSAGENTS"];
export const plain = (text: string) => ({ type: "plain_text" as const, text });
export const option = (value: string) => ({ text: plain(value.toUpperCase()), value });
const options = [option("a"), option("b")];

export type AnyBlock = types.AnyBlock;

type Used = {
  /** The element's fields besides type and action_id. */
  readonly element: object;
  readonly chosen: unknown;
  /** The expected content of the action that Bolt gets. */
  readonly said: object;
};

export const used: Record<string, Used> = {
  button: { element: { text: plain("Go"), value: "7" }, chosen: undefined, said: { value: "7" } },
  overflow: { element: { options }, chosen: "a", said: { selected_option: option("a") } },
  static_select: { element: { options }, chosen: "b", said: { selected_option: option("b") } },
  multi_static_select: { element: { options }, chosen: ["b"], said: { selected_options: [option("b")] } },
  radio_buttons: { element: { options }, chosen: "a", said: { selected_option: option("a") } },
  checkboxes: {
    element: { options },
    chosen: ["a", "b"],
    said: { selected_options: [option("a"), option("b")] },
  },
  users_select: { element: {}, chosen: ben, said: { selected_user: ben } },
  multi_users_select: { element: {}, chosen: [ana, ben], said: { selected_users: [ana, ben] } },
  channels_select: { element: {}, chosen: ops, said: { selected_channel: ops } },
  conversations_select: { element: {}, chosen: "C0PAYMENTS", said: { selected_conversation: "C0PAYMENTS" } },
  datepicker: { element: {}, chosen: "2026-11-21", said: { selected_date: "2026-11-21" } },
  plain_text_input: { element: {}, chosen: "words", said: { value: "words" } },
};

/** Pictures cannot be used. */
export const unused = ["image"];

export const inInputOnly = new Set(["plain_text_input"]);

export const blockWith = (type: string, dispatch_action = true): AnyBlock[] => {
  const element = { type, action_id: "it", ...used[type]?.element };
  const block = inInputOnly.has(type)
    ? { type: "input", block_id: "b", label: plain("L"), element, dispatch_action }
    : { type: "actions", block_id: "b", elements: [element] };
  return [block] as AnyBlock[];
};
