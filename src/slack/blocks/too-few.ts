// «Nobody can approve this», said on the card, to the requester and in the fallback channel alike.

import type { TooFew } from "../../core/audience.ts";
import { count } from "./rich.ts";

export function tooFewTitle({ able, needs }: TooFew): string {
  if (able === 0) return "Nobody can approve this";
  return `Only ${count(able)} ${able === 1 ? "person" : "people"} can approve this, and ${count(needs)} must`;
}

export function tooFewWords({ grows }: TooFew): string {
  if (grows)
    return "Of the people in this channel too few may: the requester, guests, people of other workspaces and apps do not count. Invite somebody who may.";
  return "The rule's approvers are the requester, guests or people of other workspaces, can't see this channel, or are not there. Add somebody to the group or channel that the rule names, or change the policy. Until then it waits.";
}
