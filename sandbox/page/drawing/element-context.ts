// The context of an element: its block, and what else its drawing needs.

import type { OpenView } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";
import { html, type Html } from "../base/html.ts";
import { type Json, records, string } from "../base/read-blocks.ts";
import type { Reader } from "../base/reader.ts";

/**
 * `id` is unique on the page. `view` has the errors and values that inputs show. Without a workspace, selects of channels offer no
 * channels.
 */
export type Surface = {
  readonly reader: Reader;
  readonly id: string;
  readonly view?: Pick<OpenView, "errors" | "values">;
  readonly workspace?: Workspace;
};

export type ElementContext = FieldContext & {
  readonly workspace: Workspace | undefined;
  /** Whether the element is in an input block, where a label names it and it may take the focus when its form opens. */
  readonly labelled: boolean;
};

/** The context of an element outside input blocks, where every use goes to the app at once. `id` is the id of the element. */
export function elementContextOf(
  block: Json,
  element: Json,
  { id, surface }: { id: string; surface: Surface },
): ElementContext {
  const name = string(block["block_id"]);
  return {
    reader: surface.reader,
    workspace: surface.workspace,
    block: name,
    id,
    kept: surface.view?.values[name]?.[string(element["action_id"])],
    describedBy: null,
    invalid: false,
    required: false,
    dispatches: true,
    labelled: false,
  };
}

// The browser knows only the id of an interactive element and, for choices, the numbers of the options. It cannot forge a button's
// value, because the server looks up everything else in what the app sent.

/** An element's block, and what the person chose before. */
export type FieldContext = {
  readonly reader: Reader;
  readonly block: string;
  /** Unique on the page. The ids of labels and errors derive from it. */
  readonly id: string;
  /** The person's choice, in the format of `OpenView.values`. Undefined if there is none yet. */
  readonly kept: unknown;
  readonly describedBy: string | null;
  readonly invalid: boolean;
  readonly required: boolean;
  /** Whether a change goes to the app at once, as it does outside input blocks. */
  readonly dispatches: boolean;
};

export function fieldName(block: string, action: string): string {
  return JSON.stringify([block, action]);
}

/** All options in order, including those in groups. */
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
