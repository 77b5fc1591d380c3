// Checks that the element offers a choice. A forged form may contain other choices.

import type { Acting } from "./acting.ts";
import type { Channel, Person } from "./model.ts";
import { optionsOf } from "./state-values.ts";
import type { Found } from "./state-values.ts";

type Within = Pick<Acting, "workspace">;
type Test = (chosen: unknown, element: Found["element"], within: Within, by: Person) => boolean;

const text: Test = (chosen) => typeof chosen === "string";
const like =
  (pattern: RegExp): Test =>
  (chosen) =>
    typeof chosen === "string" && (chosen === "" || pattern.test(chosen));

const option: Test = (chosen, element) => optionsOf(element).some(({ value }) => value === chosen);
const known: Test = (chosen, _element, { workspace }) => workspace.people.has(String(chosen));

const channelSeen =
  (fits: (channel: Channel) => boolean): Test =>
  (chosen, _element, { workspace }, person) => {
    const channel = workspace.channels.get(String(chosen));
    return (
      channel !== undefined &&
      fits(channel) &&
      (channel.kind === "public" || channel.members.includes(person.id))
    );
  };
const publicChannel = channelSeen(({ kind }) => kind === "public");
const conversation = channelSeen(() => true);

/** The check for each type of element that people can use. */
const tests: Record<string, Test> = {
  button: () => true,
  overflow: option,
  static_select: option,
  radio_buttons: option,
  checkboxes: option,
  multi_static_select: option,
  users_select: known,
  multi_users_select: known,
  channels_select: publicChannel,
  conversations_select: conversation,
  datepicker: like(/^\d{4}-\d{2}-\d{2}$/),
  plain_text_input: text,
};

const several = (type: string): boolean => type.startsWith("multi_") || type === "checkboxes";

export function offered(within: Within, element: Found["element"], chosen: unknown, by: Person): boolean {
  const test = Object.hasOwn(tests, element.type) ? tests[element.type] : undefined;
  if (!test) return false;
  if (chosen === undefined) return true;
  if (!several(element.type)) return test(chosen, element, within, by);
  const all: unknown[] = Array.isArray(chosen) ? (chosen as unknown[]) : [];
  const most = Number(element["max_selected_items"] ?? Infinity);
  return Array.isArray(chosen) && all.length <= most && all.every((one) => test(one, element, within, by));
}
