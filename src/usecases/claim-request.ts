// "I'm looking at it" claims a request. Its claimer can then snooze the reminders, hand the request over, or release it. Also, extending
// the time to decide.

import type { Approval } from "../domain/approval.ts";
import { type Person, type Refusal, refusalToDecide, unlessInDoubt } from "../domain/authorization.ts";
import {
  claim,
  claimOf,
  extendTime,
  handOver,
  refusalToHandOver,
  refusalUnlessClaimer,
  release,
  snooze,
  SNOOZES,
} from "../domain/handling.ts";
import { extendedMs } from "../domain/follow-up.ts";
import type { Nonce, UserId, PersonId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { timeWords } from "../domain/text/time-words.ts";
import { SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import {
  type Act,
  type ActContext,
  findFollowUpForm,
  type Handled,
  handleClick,
  handleRequest,
  mayHandle,
  type MayAct,
  openFollowUpForm,
  personFor,
} from "./handle-request.ts";
import { type Click, findCard, type OpenedForm } from "./open-form.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** Each method may be called twice. They reject with PortError if the change could not be stored. */
export type ClaimRequest = {
  claim(click: Click): Promise<Handled>;
  release(click: Click): Promise<Handled>;
  /** `times`: the number of earlier extensions, according to the card. Null if the button carried no number. */
  extend(click: Click, times: number | null): Promise<Handled>;
  open(click: Click, asks: "hand-over" | "snooze"): Promise<Result<OpenedForm, RefusedAttempt>>;
  /** `ms` is null if none of the offered times was chosen. */
  snooze(by: PersonId, nonce: Nonce | null, ms: number | null): Promise<Handled>;
  handOver(by: PersonId, nonce: Nonce | null, to: UserId | null): Promise<Handled>;
};

export function createClaimRequest(deps: DecideDeps): ClaimRequest {
  return {
    claim: (click) => handleClick(deps, click, "claim", claimIt),
    release: (click) => handleClick(deps, click, "release", releaseIt),
    extend: (click, times) =>
      handleClick(deps, click, "extend", (approval, context) => extendIt(approval, context, times)),
    open: (click, asks) => open(deps, click, asks),
    snooze: (by, nonce, ms) => snoozeIn(deps, by, nonce, ms),
    handOver: (by, nonce, to) => handOverIn(deps, by, nonce, to),
  };
}

function claimIt(approval: Approval, { rule, by: { team, user }, ctx }: ActContext): ReturnType<Act> {
  const vote = approval.votes.find(({ by }) => by?.user === user);
  if (vote !== undefined) return err({ type: "already-voted", decision: vote });
  const before = claimOf(approval)?.by ?? user;
  const other = before === user ? {} : { other: { team, user: before } };
  return ok({
    approval: claim(approval, user, rule, ctx),
    entry: { what: "claimed", outcome: "claimed", ...other },
  });
}

function releaseIt(approval: Approval, { by: { user } }: ActContext): ReturnType<Act> {
  const released = release(approval, user);
  if (!released.ok) return released;
  return ok({ approval: released.value, entry: { what: "claim-ended", outcome: "released" } });
}

function extendIt(
  approval: Approval,
  { rule, by: { user }, ctx }: ActContext,
  times: number | null,
): ReturnType<Act> {
  const extended = extendTime(approval, { by: user, times: times ?? -1, rule }, ctx);
  if (!extended.ok) return extended;
  const added = timeWords(extendedMs(extended.value) - extendedMs(approval));
  const all = timeWords(extendedMs(extended.value));
  return ok({ approval: extended.value, entry: { what: "extended", outcome: `by ${added}, ${all} in all` } });
}

type AlsoRefused = (approval: Approval, user: UserId) => ReturnType<MayAct>;

const mayManage =
  (also: AlsoRefused): MayAct =>
  (approval, context, seen) =>
    mayHandle(approval, context, seen) ?? also(approval, context.by.user);

const FORMS = {
  "hand-over": { step: "hand-over", asks: "hand-over", refusalTo: mayManage(refusalToHandOver) },
  snooze: { step: "snooze", asks: "snooze", refusalTo: mayManage(refusalUnlessClaimer) },
} as const;

async function open(
  deps: DecideDeps,
  click: Click,
  asks: keyof typeof FORMS,
): Promise<Result<OpenedForm, RefusedAttempt>> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: asks });
  return openFollowUpForm(deps, click, found.value, FORMS[asks]);
}

async function snoozeIn(
  deps: DecideDeps,
  by: PersonId,
  nonce: Nonce | null,
  ms: number | null,
): Promise<Handled> {
  const form = await findFollowUpForm(deps, by, nonce, FORMS.snooze);
  if (!form.ok) return form;
  const { nonce: id } = form.value.ticket;
  return handleRequest(deps, by, form.value, {
    act: (approval, context) => snoozeIt(approval, context, { form: id, ms }),
  });
}

function snoozeIt(
  approval: Approval,
  { rule, by: { user }, ctx }: ActContext,
  { form, ms }: { readonly form: Nonce; readonly ms: number | null },
): ReturnType<Act> {
  const offered = SNOOZES.find((snoozeMs) => snoozeMs === ms);
  if (offered === undefined) return err({ type: "time-needed" });
  const snoozed = snooze(approval, user, { ms: offered, form, rule }, ctx);
  if (!snoozed.ok) return snoozed;
  return ok({ approval: snoozed.value, entry: { what: "snoozed", outcome: `for ${timeWords(offered)}` } });
}

async function handOverIn(
  deps: DecideDeps,
  by: PersonId,
  nonce: Nonce | null,
  to: UserId | null,
): Promise<Handled> {
  const form = await findFollowUpForm(deps, by, nonce, FORMS["hand-over"]);
  if (!form.ok) return form;
  const { ticket } = form.value;
  const taker = to === null ? null : await personFor(deps, form.value, to, SUBMIT_AGE_MS);
  return handleRequest(deps, by, form.value, {
    act: (approval, context) => handItOver(approval, context, { form: ticket.nonce, to, taker }),
  });
}

/** `taker`: what Slack says about the chosen person. Null if no person was chosen. */
type HandingOver = {
  readonly form: Nonce;
  readonly to: UserId | null;
  readonly taker: Person | Refusal | null;
};

function handItOver(
  approval: Approval,
  { run, rule, inDoubt, by: { team, user: from }, ctx }: ActContext,
  { form, to, taker }: HandingOver,
): ReturnType<Act> {
  if (taker === null || to === null) return err({ type: "cannot-take-over", to: null, why: "unknown" });
  const mayNot = (): Refusal | null =>
    "type" in taker
      ? taker
      : unlessInDoubt({ run, rule, inDoubt }, (each) => refusalToDecide(taker, run, each));
  const refusal = to === from ? null : mayNot();
  if (refusal !== null) return err({ type: "cannot-take-over", to, why: refusal.type });
  // The thread tells the taker. An escalation stage may let in people who do not see it.
  if (!("type" in taker) && !taker.seesChannel)
    return err({ type: "cannot-take-over", to, why: "not-in-channel" });
  const handed = handOver(approval, { from, to, form, rule }, ctx);
  if (!handed.ok) return handed;
  const other = { team, user: to };
  return ok({ approval: handed.value, entry: { what: "handed-over", outcome: "handed over", other } });
}
