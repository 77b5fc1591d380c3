// The buttons that decide an approval, the same on its card and on its line in a digest.

import type { Approval } from "../../../domain/approval.ts";
import { headline } from "../../../domain/text/card-layout.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { CARD_APPROVE, CARD_DENY } from "../names.ts";

/** Slack's limit for an `accessibility_label`. */
const LABEL_CHARS = 75;

type Style = { readonly style?: "primary" | "danger" };

/** Makes buttons of this approval: each has its nonce for a value, and says to a screen reader what it is about. */
export function buttonsOf({ nonce, request }: Approval) {
  const asked = headline(request, LABEL_CHARS).text;
  return (action_id: string, text: string, style: Style = {}): object => ({
    type: "button",
    action_id,
    value: nonce,
    text: { type: "plain_text", text, emoji: false },
    accessibility_label: oneLine(`${text}: ${asked}`, LABEL_CHARS),
    ...style,
  });
}

export const denyButton = (approval: Approval): object =>
  buttonsOf(approval)(CARD_DENY, "Deny", { style: "danger" });

/** Deny, and Approve where that is possible now. */
export function decideButtons(approval: Approval, onlyDeny: boolean): readonly object[] {
  const approve = buttonsOf(approval)(CARD_APPROVE, "Approve", { style: "primary" });
  return onlyDeny ? [denyButton(approval)] : [approve, denyButton(approval)];
}
