// Undo on a card: the person who gave an approval takes it back while it is held. An undo can only prevent sending, so Slack's signature
// is enough to identify the person.

import type { Refusal } from "../domain/authorization.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import { undo } from "../domain/undo.ts";
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
    const outcome: { result: Result<Run, Refusal> } = { result: err({ type: "too-late" }) };
    const after = await deps.engine.change(
      run.key,
      (newest) => {
        outcome.result = undo(newest, { approval: approval.id, version, by }, deps.context());
        return outcome.result.ok ? outcome.result.value : newest;
      },
      { mustHold: false },
    );
    const { result } = outcome;
    const tried = { step: "undo", approval: approval.id, saw: approval.request } as const;
    if (!result.ok) return refused(deps, { refusal: result.error, run }, click, tried);
    return after === null ? err({ refusal: { type: "unknown" }, run: null }) : ok(after);
  };
}
