// Checks that a choice is one that the element offers. A forged form may hold others.

import type { Acting } from "./acting.ts";
import type { Channel, Person } from "./model.ts";
import { isJson } from "./rules-check.ts";
import { optionsOf } from "./state-values.ts";
import type { Found } from "./state-values.ts";

export type Chooser = { readonly person: Person; readonly suggested: readonly unknown[] };

type Test = (chosen: unknown, element: Found["element"], acting: Acting, by: Chooser) => boolean;

const text: Test = (chosen) => typeof chosen === "string";
const like =
  (pattern: RegExp): Test =>
  (chosen) =>
    typeof chosen === "string" && (chosen === "" || pattern.test(chosen));

const option: Test = (chosen, element) => optionsOf(element).some(({ value }) => value === chosen);
const known: Test = (chosen, _element, { workspace }) => workspace.people.has(String(chosen));
const suggestion: Test = (chosen, _element, _acting, { suggested }) =>
  suggested.some((one) => JSON.stringify(one) === JSON.stringify(chosen));

const channelSeen =
  (fits: (channel: Channel) => boolean): Test =>
  (chosen, _element, { workspace }, { person }) => {
    const channel = workspace.channels.get(String(chosen));
    return (
      channel !== undefined &&
      fits(channel) &&
      (channel.kind === "public" || channel.members.includes(person.id))
    );
  };
const publicChannel = channelSeen(({ kind }) => kind === "public");
const conversation = channelSeen(() => true);

const feedback: Test = (chosen, element) =>
  [element["positive_button"], element["negative_button"]].some(
    (one) => isJson(one) && one["value"] === chosen,
  );

/** One row for each kind of element that people can use. */
const tests: Record<string, Test> = {
  button: () => true,
  icon_button: () => true,
  feedback_buttons: feedback,
  overflow: option,
  static_select: option,
  radio_buttons: option,
  checkboxes: option,
  multi_static_select: option,
  users_select: known,
  multi_users_select: known,
  channels_select: publicChannel,
  multi_channels_select: publicChannel,
  conversations_select: conversation,
  multi_conversations_select: conversation,
  external_select: suggestion,
  multi_external_select: suggestion,
  datepicker: like(/^\d{4}-\d{2}-\d{2}$/),
  timepicker: like(/^([01]\d|2[0-3]):[0-5]\d$/),
  datetimepicker: (chosen) => Number.isInteger(Number(chosen)) && String(chosen) !== "",
  plain_text_input: text,
  email_text_input: text,
  url_text_input: text,
  number_input: text,
  rich_text_input: (chosen) => isJson(chosen) && chosen["type"] === "rich_text",
};

const several = (type: string): boolean => type.startsWith("multi_") || type === "checkboxes";

export const offered = (acting: Acting, element: Found["element"], chosen: unknown, by: Chooser): boolean => {
  const test = Object.hasOwn(tests, element.type) ? tests[element.type] : undefined;
  if (!test) return false;
  if (chosen === undefined) return true;
  if (!several(element.type)) return test(chosen, element, acting, by);
  const all: unknown[] = Array.isArray(chosen) ? (chosen as unknown[]) : [];
  const most = Number(element["max_selected_items"] ?? Infinity);
  return Array.isArray(chosen) && all.length <= most && all.every((one) => test(one, element, acting, by));
};
