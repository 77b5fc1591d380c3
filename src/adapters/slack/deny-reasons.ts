// A reason that the rule offers for a denial, chosen in the open form: it is written into the reason field, behind what stands there.
// Nothing is decided. The reason that counts is what the field holds at the submit.

import { MAX_REASON_CHARS } from "../../domain/authorization.ts";
import { Nonce, parsed } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import { formView, presetsFor } from "./blocks/decision-modal.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { REASON_BLOCK, REASON_INPUT } from "./names.ts";
import { type ChoicePayload, reasonBlockOf, typedInto } from "./payloads.ts";

export async function onDenyReason(deps: ListenerDeps, payload: ChoicePayload): Promise<void> {
  const { view, user, actions } = payload;
  const by = { team: deps.team, user: user.id };
  const opened = await deps.openForm.ofPerson(by, parsed<Nonce>(Nonce, view.private_metadata));
  const preset = opened === null ? undefined : presetsFor(opened)[Number(actions[0].selected_option.value)];
  if (opened === null || preset === undefined) return deps.noteRefusal(by, "unknown", { step: "click" });
  const block = reasonBlockOf({ view }) ?? REASON_BLOCK;
  const before = typedInto({ view }, block, REASON_INPUT).trimEnd();
  const text = (before === "" ? preset : `${before}\n${preset}`).slice(0, MAX_REASON_CHARS);
  const times = Number(block.split(":")[1] ?? 0) + 1;
  const drawn = formView(opened, deps.deployment, { block: `${REASON_BLOCK}:${times}`, text });
  try {
    await deps.quick("views.update", { view_id: view.id, hash: view.hash, view: drawn });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "Slack did not put a reason into a form; the person can type one");
  }
}
