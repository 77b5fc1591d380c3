// A click on a card: may this person open the modal? Nothing in the click is believed but who clicked what where.

import type { Verdict } from "../core/approval.ts";
import { mayOpen, type Refusal } from "../core/decide.ts";
import { contextBehind } from "../core/run-context.ts";
import { hasRead } from "../core/read-request.ts";
import { ok, type Result } from "../core/result.ts";
import { markOf, ruleOf, underPolicy } from "../core/ruling.ts";
import type { Run } from "../core/run.ts";
import { aboutRequest, auditEntry, momentsOf } from "./audit-entry.ts";
import { type Click, findCard } from "./find-card.ts";
import type { ModalTicket } from "./ports.ts";
import { lookUp } from "./look-up.ts";
import { type DecideDeps, type No, refused } from "./refuse.ts";

/** A click may rely on facts this old (ms): it only opens a modal. */
export const CLICK_AGE_MS = 60_000;

/** The run with its approvals under the rules of now. */
export type Opened = { readonly run: Run; readonly ticket: ModalTicket };

export type OpenModal = {
  /** The ticket is stored when this resolves to ok; its nonce is all that the modal carries. */
  decide(click: Click, verdict: Verdict): Promise<Result<Opened, No>>;
  /** Has `show` open a request in full; decides nothing. Rejects with PortError when it is not written down that it was read. */
  read(click: Click, show: Show): Promise<Result<null, No>>;
};

/** True: the person has the window before them. Only then they have read it. */
export type Show = (run: Run, request: ModalTicket["saw"]) => Promise<boolean>;

export function createOpenModal(deps: DecideDeps): OpenModal {
  const reading = new Map<string, Promise<unknown>>();
  const keyOf = ({ user, nonce }: Click): string => `${user} ${nonce}`;
  return {
    async decide(click, verdict) {
      // The window is seen a moment before we know that it is open.
      await Promise.allSettled([reading.get(keyOf(click))]);
      return openModal(deps, click, verdict);
    },
    async read(click, show) {
      const read = readRequest(deps, click, show);
      reading.set(keyOf(click), read);
      try {
        return await read;
      } finally {
        if (reading.get(keyOf(click)) === read) reading.delete(keyOf(click));
      }
    },
  };
}

/** Whoever sees the channel sees the card, so they may read it in full; nobody else. */
async function readRequest(deps: DecideDeps, click: Click, show: Show): Promise<Result<null, No>> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "read" });
  const { run, approval } = found.value;
  const person = await lookUp(deps, run, { user: click.user, circle: "anyone", maxAgeMs: CLICK_AGE_MS });
  const no: Refusal | null =
    "because" in person ? person : person.seesChannel ? null : { because: "not-in-channel" };
  const { request, id } = approval;
  if (no !== null)
    return refused(deps, { refusal: no, run }, click, { step: "read", approval: id, saw: request });
  const read = (newest: Run): Run =>
    hasRead(underPolicy(newest, deps.context()), id, request.digest, click.user);
  const isOpen = await show(run, request);
  if (isOpen && read(run) !== run) await deps.rounds.change(run.key, read, { mustHold: false });
  return ok(null);
}

async function openModal(deps: DecideDeps, click: Click, verdict: Verdict): Promise<Result<Opened, No>> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "click", verdict });
  const { run, approval, version } = found.value;
  const { policy, now: at, monotonic, nonce } = deps.context();
  const rule = ruleOf(policy, run, approval.request);
  const asked = { user: click.user, circle: rule.approvers, maxAgeMs: CLICK_AGE_MS };
  const person = await lookUp(deps, run, asked);
  const saw = { ...approval.request, shownContext: contextBehind(run.context, approval.request) };
  const mark = markOf(policy, rule);
  const tried = { verdict, moments: momentsOf(run, approval, { clicked: at }) };
  const no =
    "because" in person
      ? person
      : mayOpen(approval, { run, rule, by: person, verdict, monotonic }, { version, was: null });
  if (no !== null) {
    const attempt = { ...tried, step: "click", approval: approval.id, saw } as const;
    return refused(deps, { refusal: no, run, policy: mark }, click, attempt);
  }
  const { team, user } = click;
  const bound = { nonce: nonce(), team, user, approval: approval.id, version, run: run.key };
  const ticket: ModalTicket = { ...bound, verdict, saw, at };
  const about = { ...aboutRequest(run, approval.id, saw), by: { team, user }, policy: mark };
  const opened = auditEntry(run, { at, what: "opened", outcome: "opened", ...tried, ...about });
  await deps.store.openModal(ticket, [opened]);
  return ok({ run: underPolicy(run, { policy }), ticket });
}
