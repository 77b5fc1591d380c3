// What a script fills into the fields of a window. As with Slack's client, only what a field offers can be sent.

import { isJson } from "../slack/json-object.ts";
import type { OpenView } from "../slack/model.ts";
import { offered } from "../slack/offered.ts";
import type { Workspace } from "../slack/workspace.ts";
import { channelCalled, personCalled } from "./find-by-name.ts";
import { called, fieldsIn, missing, type Usable, usableIn } from "./surface-text.ts";

/** Values keyed by a field's label, block id or action id; or keyed by block id, objects keyed by action id. */
export type Typed = { readonly [field: string]: unknown };

/** Returns the earlier input of the window with these values. Throws if a field is not there or does not offer its value. */
export function valuesOf(workspace: Workspace, open: OpenView, typed: Typed): OpenView["values"] {
  const filled = structuredClone(open.values);
  for (const { field, value } of fieldsOf(open, typed)) {
    const { block, element } = field;
    const taken = withIds(workspace, element.type, value);
    const by = workspace.people.get(open.person);
    const isEmpty = taken === null || taken === "";
    if (by !== undefined && !isEmpty && !offered({ workspace }, element, taken, by))
      throw new Error(`The field "${field.label}" does not offer ${JSON.stringify(value)}.`);
    filled[block.block_id] = { ...filled[block.block_id], [String(element["action_id"])]: taken };
  }
  return filled;
}

type Given = { readonly field: Usable; readonly value: unknown };

function fieldsOf({ view }: OpenView, typed: Typed): Given[] {
  const fields = fieldsIn(view.blocks);
  const all = [...fields, ...usableIn(view.blocks)];
  return Object.entries(typed).flatMap(([name, value]): Given[] => {
    if (!isJson(value)) return [{ field: called(fields, name) ?? missing("field", name, fields), value }];
    return Object.entries(value).map(([action, value]) => {
      const found = all.find(
        ({ block, element }) => block.block_id === name && element["action_id"] === action,
      );
      return { field: found ?? missing("field", `${name} ${action}`, all), value };
    });
  });
}

/** Puts ids in place of the names of people and channels. */
function withIds(workspace: Workspace, type: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => withIds(workspace, type, one));
  if (typeof value !== "string" || value === "") return value;
  if (/^(multi_)?users_select$/.test(type)) return personCalled(workspace, value).id;
  if (/^(channels|conversations)_select$/.test(type)) return channelCalled(workspace, value).id;
  return value;
}
