// The context of an element: its block, and what its drawing needs beside it.

import type { OpenView } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";
import { html, type Html } from "../base/html.ts";
import { type Json, records, string } from "../base/read-blocks.ts";
import type { Reader } from "../base/reader.ts";

/**
 * `id` is unique on the page; a view brings the errors and the values its inputs show. Without a workspace, selects of channels
 * offer only the one that the reader is in.
 */
export type Surface = {
  readonly reader: Reader;
  readonly id: string;
  readonly view?: Pick<OpenView, "errors" | "values">;
  readonly workspace?: Workspace;
};

export type ElementContext = FieldContext & {
  readonly workspace: Workspace | undefined;
  /** In an input block: a label names it, and it may take the focus when its form opens. */
  readonly labelled: boolean;
};

/** `id` is the element's own. Outside of input blocks every use goes to the app at once. */
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
    tells: true,
    labelled: false,
  };
}

// What the browser knows about an interactive element: its id and, for choices, the options' numbers. It cannot
// forge a button's value, because the server looks up everything else in what the app sent.

/** An element's block, and what the person chose before. */
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
  /** Whether a change goes to the app at once, as outside of input blocks. */
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
