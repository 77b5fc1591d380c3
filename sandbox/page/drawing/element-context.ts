// Where an element stands, with what its drawing has to know beside it.
import type { OpenView } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";
import { string } from "../base/json.ts";
import type { Json } from "../base/json.ts";
import type { Reader } from "../base/reader.ts";
import type { FieldContext } from "./field-context.ts";

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
