// A reason that the rule offers for a denial, chosen in the open form: it is written into the reason field, behind what stands there.
// Nothing is decided. The reason that counts is what the field holds at the submit.

import type { View } from "@slack/types";
import { MAX_REASON_CHARS } from "../../domain/authorization.ts";
import { Nonce, parsed } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import { formView, presetsFor } from "./blocks/decision-modal.ts";
import type { FilledReason } from "./blocks/form-parts.ts";
import { presetsOfSeveral, reviewSeveralModal } from "./blocks/review-modal.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { DENY_REASON_BLOCK, REASON_BLOCK, REASON_INPUT } from "./names.ts";
import { type ChoicePayload, reasonBlockOf, typedInto } from "./payloads.ts";
import { apartOf, reviewFormOf, shownRequests } from "./review-form.ts";

export async function onDenyReason(deps: ListenerDeps, payload: ChoicePayload): Promise<void> {
  const { view, user, actions } = payload;
  const by = { team: deps.team, user: user.id };
  const opened = await deps.openForm.ofPerson(by, parsed<Nonce>(Nonce, view.private_metadata));
  const preset = opened === null ? undefined : presetsFor(opened)[Number(actions[0].selected_option.value)];
  if (opened === null || preset === undefined) return deps.noteRefusal(by, "unknown", { step: "click" });
  await drawAgain(
    deps,
    payload,
    formView(opened, deps.deployment, filledWith(preset, payload, REASON_BLOCK)),
  );
}

/** The same in the form of several requests: the reason goes with each of them that is denied there. */
export async function onReviewDenyReason(deps: ListenerDeps, payload: ChoicePayload): Promise<void> {
  const { view, user, actions } = payload;
  const by = { team: deps.team, user: user.id };
  const { bundle, kind, value } = reviewFormOf(view);
  try {
    const opened = await deps.review.severalOfPerson(by, bundle, shownRequests(payload), { kind, value });
    const preset =
      opened === null ? undefined : presetsOfSeveral(opened)[Number(actions[0].selected_option.value)];
    if (opened === null || preset === undefined)
      return await deps.noteRefusal(by, "unknown", { step: "click" });
    const filled = filledWith(preset, payload, DENY_REASON_BLOCK);
    await drawAgain(deps, payload, reviewSeveralModal(opened, await apartOf(deps, opened), filled));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, NOT_FILLED);
  }
}

const NOT_FILLED = "Slack did not put a reason into a form; the person can type one";

/** Behind what was typed. Slack fills a field only when its block is new. */
function filledWith(
  preset: string,
  payload: ChoicePayload,
  field: typeof REASON_BLOCK | typeof DENY_REASON_BLOCK,
): FilledReason {
  const block = reasonBlockOf(payload, field) ?? field;
  const before = typedInto(payload, block, REASON_INPUT).trimEnd();
  const text = (before === "" ? preset : `${before}\n${preset}`).slice(0, MAX_REASON_CHARS);
  const times = Number(block.split(":")[1] ?? 0) + 1;
  return { block: `${field}:${times}`, text };
}

async function drawAgain(deps: ListenerDeps, { view }: ChoicePayload, drawn: View): Promise<void> {
  try {
    await deps.quick("views.update", { view_id: view.id, hash: view.hash, view: drawn });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, NOT_FILLED);
  }
}
