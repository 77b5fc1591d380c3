// The fields of the form for a decision: the menu of offered reasons, the reason, and the word that a rule wants typed.

import type { Block } from "@slack/types";
import type { Verdict } from "../../../domain/approval.ts";
import { MAX_REASON_CHARS } from "../../../domain/authorization.ts";
import type { KeptRule } from "../../../domain/policy/policy.ts";
import {
  PRESET_BLOCK,
  PRESET_SELECT,
  REASON_BLOCK,
  REASON_INPUT,
  type REVIEW_PRESET_SELECT,
  WORD_BLOCK,
  WORD_INPUT,
} from "../names.ts";
import { count } from "./rich.ts";

/** The text that a chosen preset put into the field, and the id of the field's block. */
export type FilledReason = { readonly block: string; readonly text: string };

export const EMPTY_REASON: FilledReason = { block: REASON_BLOCK, text: "" };

/** `reasons`: those that the form offers. None: it has no menu. */
export function presetMenu(
  reasons: readonly string[],
  action_id: typeof PRESET_SELECT | typeof REVIEW_PRESET_SELECT = PRESET_SELECT,
): Block[] {
  if (reasons.length === 0) return [];
  const options = reasons.map((text, at) => ({ text: plain(text), value: String(at) }));
  const menu = {
    type: "static_select",
    action_id,
    placeholder: plain("Choose a reason, or type one"),
    options,
  };
  return [{ type: "actions", block_id: PRESET_BLOCK, elements: [menu] } as Block];
}

export function reasonInput(verdict: Verdict, rule: KeptRule, { block, text }: FilledReason): Block {
  const fewest = rule.reason[verdict];
  const needed = verdict === "approve" ? "Needed to approve" : "Needed to deny";
  const length = fewest > 1 ? `, at least ${count(fewest)} characters` : "";
  const who = "The service gets it, and everyone in the channel sees it.";
  return {
    type: "input",
    block_id: block,
    optional: fewest === 0,
    label: plain("Reason"),
    hint: plain(fewest === 0 ? who : `${needed}${length}. ${who}`),
    element: {
      type: "plain_text_input",
      action_id: REASON_INPUT,
      multiline: true,
      max_length: MAX_REASON_CHARS,
      ...(text === "" ? {} : { initial_value: text }),
    },
  } as Block;
}

export function wordInput(verdict: Verdict, { friction }: KeptRule): Block[] {
  if (verdict === "deny" || friction.word === null) return [];
  const block = {
    type: "input",
    block_id: WORD_BLOCK,
    label: plain(`Type "${friction.word}" to approve`),
    element: { type: "plain_text_input", action_id: WORD_INPUT, max_length: 200 },
  };
  return [block];
}

function plain(text: string): { type: "plain_text"; text: string } {
  return { type: "plain_text", text };
}
