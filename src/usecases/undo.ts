// Undo on a card: the person who gave an approval takes it back while it is held. An undo can only prevent sending, so Slack's signature
// is enough to identify the person.

import { undo } from "../domain/decide.ts";
import { ok, type Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import { type Click, findCard } from "./open-form.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** The undo is stored when this resolves to ok. Rejects with PortError when it could not be stored. */
export type UndoDecision = (click: Click) => Promise<Result<Run, RefusedAttempt>>;

export function createUndoDecision(deps: DecideDeps): UndoDecision {
  return async (click) => {
    const found = await findCard(deps, click);
    if (!found.ok) return refused(deps, found.error, click, { step: "undo" });
    const { run, approval, version } = found.value;
    const by = { team: click.team, user: click.user };
    const after = await deps.engine.transact(
      run.key,
      (newest) => {
        const value = undo(newest, { approval: approval.id, version, by }, deps.context());
        return { run: value.ok ? value.value : newest, value };
      },
      { mustHold: false },
    );
    if (after?.value.ok === true) return ok(after.run);
    const refusal = after === null ? ({ type: "too-late" } as const) : after.value.error;
    const tried = { step: "undo", approval: approval.id, saw: approval.request } as const;
    return refused(deps, { refusal, run }, click, tried);
  };
}
