// Handles a click on a card: decides whether this person may open the form. The click is trusted only for who clicked what, and where.

import { markRead, votersOf } from "../domain/approval-transitions.ts";
import type { Approval, Verdict } from "../domain/approval.ts";
import { type Refusal, refusalToOpen } from "../domain/authorization.ts";
import type { ChannelId, MessageTs, Nonce, TeamId, UserId, PersonId } from "../domain/ids.ts";
import { isFresh } from "../domain/posted-message.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { judgingRules, ruleRefOf } from "../domain/applied-rule.ts";
import { asOfNow } from "../domain/bring-up-to-date.ts";
import { asShown } from "../domain/run-context.ts";
import { membershipsToLookUp } from "../domain/rule-facts.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { promiseOf } from "../domain/submission.ts";
import { cardSlot, listingSlot, type Slot } from "../domain/slot.ts";
import { aboutRequest, auditEntry, momentsOf, READ_IN_FULL } from "../audit/entry.ts";
import { lookUp, lookUpAll, lookUpRequester } from "../engine/fresh-facts.ts";
import type { FormTicket } from "../ports/store.ts";
import { precedentsFor } from "./form-precedents.ts";
import { ownForm } from "./form-ticket.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** The maximum age of facts for a click (ms). A click only opens a form. */
export const CLICK_AGE_MS = 60_000;

/** The ticket of an opened form, and its run with the current rules applied. */
export type OpenedForm = { readonly run: Run; readonly ticket: FormTicket };

export type OpenForm = {
  /**
   * The ticket is stored when this resolves to ok, and the modal carries only its nonce. If the request must be read before it is approved,
   * the ticket is only for reading, and `continueReading` opens the form.
   */
  open(click: Click, verdict: Verdict): Promise<Result<OpenedForm, RefusedAttempt>>;
  /** Opens the form after the reading window. The person then counts as having read this version of the request. */
  continueReading(by: PersonId, nonce: Nonce | null): Promise<Result<OpenedForm, RefusedAttempt>>;
  /** Resolves to the form with this nonce that the person has open, or to null if there is none. */
  ofPerson(by: PersonId, nonce: Nonce | null): Promise<OpenedForm | null>;
  /** Calls `show` to show a request in full. Decides nothing. Rejects with PortError if the reading could not be recorded. */
  read(click: Click, show: Show): Promise<Result<null, RefusedAttempt>>;
};

/** Resolves to true if Slack opened the window. Only then does the person count as having read the request. */
export type Show = (run: Run, request: FormTicket["saw"]) => Promise<boolean>;

export function createOpenForm(deps: DecideDeps): OpenForm {
  /** The reading windows that are being opened. */
  const reading = new Map<string, Promise<unknown>>();
  const keyOf = ({ user, nonce }: Click): string => `${user} ${nonce}`;
  return {
    async open(click, verdict) {
      // A person sees the reading window, and may click on, a moment before we know that the window is open.
      await Promise.allSettled([reading.get(keyOf(click))]);
      return openForm(deps, click, verdict);
    },
    continueReading: (by, nonce) => continueReading(deps, by, nonce),
    ofPerson: (by, nonce) => openedFormOf(deps, by, nonce),
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

/** People who see the channel see the card, so they may read the request in full. Others may not. */
async function readRequest(
  deps: DecideDeps,
  click: Click,
  show: Show,
): Promise<Result<null, RefusedAttempt>> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "read" });
  const { run, approval } = found.value;
  const person = await lookUp(deps, run, { user: click.user, sets: [], maxAgeMs: CLICK_AGE_MS });
  const refusal: Refusal | null =
    "type" in person ? person : person.seesChannel ? null : { type: "not-in-channel" };
  const { request, id } = approval;
  if (refusal !== null)
    return refused(deps, { refusal, run }, click, { step: "read", approval: id, saw: request });
  const read = (newest: Run) => readBy(deps, newest, click, { id, request });
  const isOpen = await show(run, request);
  if (isOpen && read(run) !== run) await deps.engine.changeAnywhere(run.key, read);
  return ok(null);
}

/** Changes the run only if the rule requires the reading. Then the person counts as a reader, and an entry says so. */
function readBy(
  deps: Pick<DecideDeps, "context">,
  newest: Run,
  { team, user }: PersonId,
  { id, request }: Pick<Approval, "id" | "request">,
): ReturnType<Parameters<DecideDeps["engine"]["changeAnywhere"]>[1]> {
  const ctx = deps.context();
  const ruled = asOfNow(newest, null, ctx);
  const run = markRead(ruled, id, request.digest, user);
  const approval = findApproval(run, id);
  if (run === ruled || approval === null) return ruled;
  const facts = { at: ctx.now, what: "opened", outcome: READ_IN_FULL, by: { team, user } } as const;
  const policy = ruleRefOf(ctx.policy, approval.appliedRule.rule);
  const moments = momentsOf(run, approval, { clicked: ctx.now });
  const entry = auditEntry(run, { ...facts, policy, moments, ...aboutRequest(run, id, request) });
  return { run, sideWrites: { audit: [entry] } };
}

async function openForm(
  deps: DecideDeps,
  click: Click,
  verdict: Verdict,
): Promise<Result<OpenedForm, RefusedAttempt>> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "click", verdict });
  return openFormForCard(deps, found.value, click, verdict);
}

/** "choose": the person chooses the verdict in the form. If they may only deny, the form for a denial opens. */
export async function openFormForCard(
  deps: DecideDeps,
  clicked: ClickedCard & { readonly was?: FormTicket["saw"] | null },
  click: PersonId,
  asks: Verdict | "choose",
): Promise<Result<OpenedForm, RefusedAttempt>> {
  const { version, was = null } = clicked;
  const ctx = deps.context();
  const { policy, now: at, monotonic, nonce } = ctx;
  const { person, voters, requesterGroups } = await factsAtClick(deps, clicked, click.user);
  const run = asOfNow(clicked.run, requesterGroups, ctx);
  const approval = findApproval(run, clicked.approval.id) ?? clicked.approval;
  const judging = { ...judgingRules(ctx, run, approval), run, voters, monotonic };
  const saw = asShown(run, approval.request);
  const mark = ruleRefOf(policy, judging.rule);
  const refusalTo = (verdict: Verdict): Refusal | null =>
    "type" in person
      ? person
      : refusalToOpen(approval, { ...judging, by: person, verdict }, { version, was });
  const { verdict, choice, refusal } = asks === "choose" ? choiceAmong(refusalTo) : askedFor(asks, refusalTo);
  const tried = { verdict: choice ? null : verdict, moments: momentsOf(run, approval, { clicked: at }) };
  const mustRead = refusal?.type === "read-first";
  if (refusal !== null && !mustRead) {
    const attempt = { ...tried, step: "click", approval: approval.id, saw } as const;
    return refused(deps, { refusal, run, policy: mark }, click, attempt);
  }
  const { team, user } = click;
  const bound = { nonce: nonce(), team, user, approval: approval.id, version, run: run.key };
  const precedents = mustRead ? {} : await precedentsFor(deps, run, approval, person);
  const promised = promiseOf(judging.rule);
  const facts = { ...bound, verdict, saw, at, promised, ...(choice ? { choice } : {}), ...precedents };
  const ticket: FormTicket = mustRead ? { ...facts, reading: true } : facts;
  const about = { ...aboutRequest(run, approval.id, saw), by: { team, user }, policy: mark };
  const opened = auditEntry(run, { at, what: "opened", outcome: "opened", ...tried, ...about });
  // A window for reading cannot decide. Its reading has an entry once the person continues.
  await deps.store.saveForm(ticket, mustRead ? [] : [opened]);
  return ok({ run, ticket });
}

async function factsAtClick(deps: DecideDeps, { run, approval }: ClickedCard, user: UserId) {
  const sets = membershipsToLookUp(run, approval, deps.context());
  const query = { sets, maxAgeMs: CLICK_AGE_MS };
  // At a click, it matters only for a rule with parts whether earlier approvers have moved.
  const users = approval.appliedRule.rule.parts.length === 0 ? [] : votersOf(approval.votes);
  const [person, voters, requesterGroups] = await Promise.all([
    lookUp(deps, run, { ...query, user }),
    lookUpAll(deps, run, { ...query, users }),
    lookUpRequester(deps, run, CLICK_AGE_MS),
  ]);
  return { person, voters, requesterGroups };
}

type OfferedForm = { readonly verdict: Verdict; readonly choice: boolean; readonly refusal: Refusal | null };

const askedFor = (verdict: Verdict, refusalTo: (verdict: Verdict) => Refusal | null): OfferedForm => ({
  verdict,
  choice: false,
  refusal: refusalTo(verdict),
});

function choiceAmong(refusalTo: (verdict: Verdict) => Refusal | null): OfferedForm {
  const refusal = refusalTo("approve");
  if (refusal === null || refusal.type === "read-first") return { verdict: "approve", choice: true, refusal };
  return refusalTo("deny") === null
    ? { verdict: "deny", choice: false, refusal: null }
    : { verdict: "deny", choice: false, refusal };
}

/**
 * The ticket was stored for this person before the window opened, and only the window has its nonce. A window for an older version of the
 * card marks nothing as read, so the person always reads the request that they decide.
 */
async function continueReading(
  deps: DecideDeps,
  by: PersonId,
  nonce: Nonce | null,
): Promise<Result<OpenedForm, RefusedAttempt>> {
  const step = "read";
  const isForReading = ({ reading, asks }: FormTicket): boolean => reading === true && asks === undefined;
  const ticket = await ownForm(deps, by, nonce, isForReading);
  if ("type" in ticket) return refused(deps, { refusal: ticket, run: null }, by, { step });
  const { approval: id, version, verdict, saw } = ticket;
  const read = (newest: Run) => {
    const isCurrent = findApproval(newest, id)?.version === version;
    return isCurrent ? readBy(deps, newest, by, { id, request: saw }) : newest;
  };
  const run = await deps.engine.changeAnywhere(ticket.run, read);
  const approval = run === null ? null : findApproval(run, id);
  if (run === null || approval === null)
    return refused(deps, { refusal: { type: "unknown" }, run: null }, by, { step });
  const asks = ticket.choice === true ? "choose" : verdict;
  return openFormForCard(deps, { run, approval, version, was: saw }, by, asks);
}

async function openedFormOf(
  deps: Pick<DecideDeps, "store" | "time" | "context">,
  by: PersonId,
  nonce: Nonce | null,
): Promise<OpenedForm | null> {
  const ticket = await ownForm(deps, by, nonce, ({ asks }) => asks === undefined);
  if ("type" in ticket) return null;
  const run = (await deps.store.load(ticket.run))?.run;
  return run === undefined ? null : { run: asOfNow(run, null, deps.context()), ticket };
}

/** A click on a button of a card. Trusted only for who clicked what, and where. */
export type Click = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  /** Null if the button carried no valid nonce. */
  readonly nonce: Nonce | null;
};

/** `version`: the version of the clicked card, which may be outdated. */
export type ClickedCard = { readonly run: Run; readonly approval: Approval; readonly version: number };

/** Returns the slot of the message with the approval's buttons: its card or, before the card is posted, the listing with its line. */
function buttonsSlot({ posts }: Run, { id, listing }: Approval): Slot {
  return listing !== undefined && isFresh(posts[cardSlot(id)]) ? listingSlot(listing.page) : cardSlot(id);
}

/**
 * Resolves to what the button with this nonce is about, up to date for a judgement. Null if there is no such button. The caller checks where
 * it was pressed.
 */
export async function approvalOfButton(
  { store, time }: Pick<DecideDeps, "store" | "time">,
  nonce: Nonce | null,
): Promise<ClickedCard | null> {
  await time.makeUp();
  const button = nonce === null ? null : await store.byButton(nonce);
  const run = button === null ? null : ((await store.load(button.run))?.run ?? null);
  const approval = run === null || button === null ? null : findApproval(run, button.approval);
  return run === null || button === null || approval === null
    ? null
    : { run, approval, version: button.version };
}

export async function findCard(
  deps: Pick<DecideDeps, "store" | "time">,
  click: Click,
): Promise<Result<ClickedCard, RefusedAttempt>> {
  const card = await approvalOfButton(deps, click.nonce);
  if (card === null) return err({ refusal: { type: "unknown" }, run: null });
  const { run, approval } = card;
  const post = run.posts[buttonsSlot(run, approval)];
  const isSamePlace = run.team === click.team && run.channel === click.channel;
  if (isSamePlace && (post?.type === "sending" || post?.type === "unsure"))
    return err({ refusal: { type: "being-posted" }, run });
  // The nonce is bound to its message. In another message, channel or team, it is not valid.
  if (!isSamePlace || post?.type !== "up" || post.ts !== click.ts)
    return err({ refusal: { type: "unknown" }, run: null });
  return ok(card);
}
