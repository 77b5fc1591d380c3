// The window after an approval that the rule holds: until when, with Undo.

import type { Block, View } from "@slack/types";
import type { Approval } from "../../../domain/approval.ts";
import type { Nonce } from "../../../domain/ids.ts";
import type { Run } from "../../../domain/run.ts";
import { headline } from "../../../domain/text/card-layout.ts";
import { WINDOW_UNDO } from "../names.ts";
import { marksLine, plain } from "./decision-modal.ts";
import { type Deployment, UNNAMED } from "./deployment.ts";
import { withId } from "./message-id.ts";
import { clock, line, rich, span, untrustedSpan } from "./rich.ts";

const ASKED_CHARS = 150;

/** Null: the approval is not held. `nonce`: of the form that was submitted; its person alone can use the button. */
export function heldModal(
  run: Run,
  approval: Approval,
  nonce: Nonce,
  deployment: Deployment = UNNAMED,
): View | null {
  const { state, request } = approval;
  if (state.type !== "decided" || state.delivery.type !== "held") return null;
  const undo = { type: "button", action_id: WINDOW_UNDO, value: nonce, text: plain("Undo") };
  return withId("form:held", {
    type: "modal" as const,
    title: plain("Approved, not sent yet"),
    close: plain("Close"),
    blocks: [
      rich(
        ...marksLine(run, request, deployment),
        line(untrustedSpan(headline(request, ASKED_CHARS).text, ASKED_CHARS)),
      ),
      rich(
        line(
          span("Your approval is recorded. It is sent at "),
          clock(state.delivery.until),
          span(". Until then you can take it back here or on the card."),
        ),
      ),
      { type: "actions", elements: [undo] } as Block,
    ],
  });
}
