// The part of the queue that a person has chosen to see: a filter and a page. Buttons and menus carry it. It selects only among what the
// reader may see anyway, so it does not need a nonce.

import { createHash } from "node:crypto";
import { ChannelId, parsed, type UserId } from "../../domain/ids.ts";
import type { QueueFilter } from "../../domain/queue.ts";
import { clip } from "../../domain/text/text.ts";

export type QueueChoice = {
  /** `SHOW_ALL`, `SHOW_MINE`, or the result of `ruleValue`. */
  readonly show: string;
  readonly channel: ChannelId | null;
  /** The index of the page, from 0. */
  readonly page: number;
  /** Names the menus that show the choice. Slack keeps a menu's old selection for its block id, so every choice gets a new name. */
  readonly menuName: string;
};

export const SHOW_ALL = "all";
export const SHOW_MINE = "mine";
/** The most characters of a rule's name in the value of an option, which may have 75 in all (@slack/types Option). */
const NAME_CHARS = 55;
const DIGEST_CHARS = 12;
const RULE = /^rule:[0-9a-f]{12}:/;

/** Contains a digest, which tells long names apart, and the beginning of the name, which people can read when the rule is gone. */
export function ruleValue(name: string): string {
  const { shown, hidden } = clip(name, NAME_CHARS);
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGEST_CHARS);
  // Without & < >, because Slack may write them as entities.
  return `rule:${digest}:${shown.replaceAll(/[&<>]/g, " ")}${hidden === 0 ? "" : "…"}`;
}
const digestIn = (show: string): string | undefined => RULE.exec(show)?.[0];
export const isRuleValue = (show: string): boolean => RULE.test(show);
/** Returns the name of the rule, or its beginning. */
export const ruleNameIn = (show: string): string => show.replace(RULE, "");

export const EVERYTHING: QueueChoice = { show: SHOW_ALL, channel: null, page: 0, menuName: "" };

/** Encodes a choice as text. Empty only for `EVERYTHING`. */
export function encodeChoice({ show, channel, page, menuName }: QueueChoice): string {
  const fields = new URLSearchParams();
  if (show !== SHOW_ALL) fields.set("show", show);
  if (channel !== null) fields.set("channel", channel);
  if (page > 0) fields.set("page", String(page));
  if (menuName !== "") fields.set("menus", menuName);
  return fields.toString();
}

/** Decodes a choice. Any other text selects everything. */
export function decodeChoice(text: string): QueueChoice {
  const fields = new URLSearchParams(text);
  return {
    show: parseShow(fields.get("show")),
    channel: parsed<ChannelId>(ChannelId, fields.get("channel")),
    page: /^\d{1,4}$/.test(fields.get("page") ?? "") ? Number(fields.get("page")) : 0,
    menuName: /^[\w.]{1,100}$/.exec(fields.get("menus") ?? "")?.[0] ?? "",
  };
}

export const isFiltered = ({ show, channel }: QueueChoice): boolean => show !== SHOW_ALL || channel !== null;

export function parseShow(text: string | null | undefined): string {
  return typeof text === "string" && (text === SHOW_MINE || isRuleValue(text)) ? text : SHOW_ALL;
}

export function filterOf({ show, channel }: QueueChoice, user: UserId): QueueFilter {
  return {
    ...(channel === null ? {} : { channel }),
    ...(show === SHOW_MINE ? { askedBy: user } : {}),
    ...(isRuleValue(show) ? { rule: (name: string) => digestIn(ruleValue(name)) === digestIn(show) } : {}),
  };
}
