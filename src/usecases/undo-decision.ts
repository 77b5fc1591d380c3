// Undo, on a card and in the window after a submit: while an approval is held, the person who gave it can take it back. An undo can only
// prevent sending, so Slack's signature is enough to identify the person.

import type { Request } from "../domain/approval.ts";
import { undo } from "../domain/decide.ts";
import type { ApprovalId, Nonce, PersonId } from "../domain/ids.ts";
import { ok, type Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import { formToDecide } from "./form-ticket.ts";
import { type Click, findCard } from "./open-form.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** The undo is stored when these resolve to ok. Both may be called twice. They reject with PortError if the undo could not be stored. */
export type UndoDecision = {
  onCard(click: Click): Promise<Result<Run, RefusedAttempt>>;
  /** `nonce`: the nonce of the submitted form, or null if the button carried no valid nonce. */
  inWindow(by: PersonId, nonce: Nonce | null): Promise<Result<Run, RefusedAttempt>>;
};

export function createUndoDecision(deps: DecideDeps): UndoDecision {
  return {
    async onCard(click) {
      const found = await findCard(deps, click);
      if (!found.ok) return refused(deps, found.error, click, { step: "undo" });
      const { run, approval, version } = found.value;
      return takeBack(deps, click, { run, approval: approval.id, version, saw: approval.request });
    },
    async inWindow(by, nonce) {
      const form = await formToDecide(deps, by, nonce, null);
      if ("type" in form) return refused(deps, { refusal: form, run: null }, by, { step: "undo" });
      const run = (await deps.store.load(form.run))?.run;
      if (run === undefined)
        return refused(deps, { refusal: { type: "unknown" }, run: null }, by, { step: "undo" });
      return takeBack(deps, by, { ...form, run });
    },
  };
}

type Held = {
  readonly run: Run;
  readonly approval: ApprovalId;
  readonly version: number;
  readonly saw: Request;
};

async function takeBack(
  deps: DecideDeps,
  { team, user }: PersonId,
  { run, approval, version, saw }: Held,
): Promise<Result<Run, RefusedAttempt>> {
  const by = { team, user };
  const after = await deps.engine.transactAnywhere(run.key, (newest) => {
    const value = undo(newest, { approval, version, by }, deps.context());
    return { run: value.ok ? value.value : newest, value };
  });
  if (after?.value.ok === true) return ok(after.run);
  const refusal = after === null ? ({ type: "too-late", became: null } as const) : after.value.error;
  return refused(deps, { refusal, run }, by, { step: "undo", approval, saw });
}
