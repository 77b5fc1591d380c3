// What the browser is told of an interactive element: which one it is and, for choices, the options' numbers. It cannot make
// up a button's value, for the server looks everything else up in what the app sent.
import { html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import { records, string } from "../base/json.ts";
import type { Json } from "../base/json.ts";
import type { Reader } from "../base/reader.ts";

/** Where an element stands: the block it is in, and what the person chose there before. */
export type FieldContext = {
  readonly reader: Reader;
  readonly block: string;
  /** Unique on the page; ids of labels and errors are made from it. */
  readonly id: string;
  /** In the form of `OpenView.values`; undefined when the person has chosen nothing yet. */
  readonly kept: unknown;
  readonly describedBy: string | null;
  readonly invalid: boolean;
  readonly required: boolean;
  /** Does a change go to the app at once, as outside of input blocks? */
  readonly tells: boolean;
};

export function fieldName(block: string, action: string): string {
  return JSON.stringify([block, action]);
}

/** Options in their order, those of groups one after the other. */
export function optionsOf(element: Json): Json[] {
  const groups = records(element["option_groups"]);
  return groups.length > 0
    ? groups.flatMap((group) => records(group["options"]))
    : records(element["options"]);
}

export function act(element: Json, slot: FieldContext): Html {
  const action = string(element["action_id"]);
  return html` data-act="click" data-block="${slot.block}" data-action="${action}"`;
}
