// Decodes what a person typed or chose from what the app sent: the browser sends only fields and numbers of options.
import type { Block, OpenView } from "../../slack/model.ts";
import { type Json, record, records, string } from "../base/json.ts";
import { fieldName, optionsOf } from "./element-context.ts";
import { typedRichText } from "./typed-rich-text.ts";

export type Fields = readonly (readonly [name: string, value: string])[];

type Placed = { readonly block: string; readonly action: string; readonly element: Json };

function elementsOf(blocks: readonly Json[]): Placed[] {
  return blocks.flatMap((block) => [
    ...elementsIn(block),
    ...elementsOf(records(block["child_blocks"])),
    ...elementsOf(block["type"] === "carousel" ? records(block["elements"]) : []),
  ]);
}

function elementsIn(block: Json): Placed[] {
  const held = [record(block["element"]), record(block["accessory"])];
  return [...held, ...records(block["elements"]), ...records(block["actions"])]
    .filter((element) => element["action_id"] !== undefined)
    .map((element) => ({ block: string(block["block_id"]), action: string(element["action_id"]), element }));
}

/** They act and hold no value. */
const STATELESS = new Set(["button", "overflow", "workflow_button", "feedback_buttons", "icon_button"]);

/** In the form of `OpenView.values`. */
export function valuesOf(blocks: readonly Block[], fields: Fields): OpenView["values"] {
  const values: OpenView["values"] = {};
  for (const { block, action, element } of elementsOf(blocks)) {
    if (STATELESS.has(string(element["type"]))) continue;
    const name = fieldName(block, action);
    const raw = fields.filter(([field]) => field === name).map(([, value]) => value);
    values[block] = { ...values[block], [action]: chosen(element, raw) };
  }
  return values;
}

/** Undefined if the element is gone, as after an update of the message. */
export function chosenAt(
  blocks: readonly Block[],
  at: { block: string; action: string },
  raw: readonly string[],
): { readonly chosen: unknown } | undefined {
  const found = elementsOf(blocks).find((one) => one.block === at.block && one.action === at.action);
  return found && { chosen: chosen(found.element, raw) };
}

/** An element's options, by number. An external select offers its initial options. */
export function offeredBy(element: Json): Json[] {
  switch (element["type"]) {
    case "external_select":
      return element["initial_option"] === undefined ? [] : [record(element["initial_option"])];
    case "multi_external_select":
      return records(element["initial_options"]);
    case "feedback_buttons":
      return [record(element["positive_button"]), record(element["negative_button"])];
    default:
      return optionsOf(element);
  }
}

function chosen(element: Json, raw: readonly string[]): unknown {
  const offered = offeredBy(element);
  const optionAt = (index: string): unknown => offered[indexOf(index)]?.["value"] ?? null;
  switch (element["type"]) {
    case "button":
    case "workflow_button":
      return undefined;
    case "icon_button":
      return element["value"];
    case "checkboxes":
    case "multi_static_select":
      return raw.map(optionAt).filter((value) => value !== null);
    case "external_select":
      return offered[indexOf(raw[0] ?? "")] ?? null;
    case "multi_external_select":
      return raw.flatMap((index) => offered[indexOf(index)] ?? []);
    case "static_select":
    case "radio_buttons":
    case "overflow":
    case "feedback_buttons":
      return optionAt(raw[0] ?? "");
    case "multi_users_select":
    case "multi_channels_select":
    case "multi_conversations_select":
      return raw.filter((id) => id !== "");
    case "datetimepicker":
      return secondsOf(raw[0] ?? "");
    case "rich_text_input":
      return typedRichText(typed(raw));
    default:
      return typed(raw) || null;
  }
}

const indexOf = (index: string): number => (index === "" ? -1 : Number(index));

/** A browser sends line breaks as CR LF; Slack hands apps LF. */
function typed(raw: readonly string[]): string {
  return raw[0]?.replaceAll("\r\n", "\n") ?? "";
}

/** A local time from its field, in this machine's zone, which is the reader's. */
function secondsOf(local: string): number | null {
  const atMs = /^\d{4}-\d\d-\d\dT/.test(local) ? new Date(local).getTime() : Number.NaN;
  return Number.isFinite(atMs) ? Math.floor(atMs / 1000) : null;
}
