// A click on a card: may this person open the modal? The click is trusted only for who clicked what, and where.

import type { Approval, Verdict } from "../domain/approval.ts";
import { markRead, type Refusal, refusalToOpen } from "../domain/authorization.ts";
import type { ChannelId, MessageTs, Nonce, TeamId, UserId } from "../domain/ids.ts";
import { isFresh } from "../domain/posted-message.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { applyPolicy, ruleOf, ruleRefOf } from "../domain/applied-rule.ts";
import { applyBrake } from "../domain/brake.ts";
import { contextBehind } from "../domain/run-context.ts";
import { setsToAskFor, withFreshRequester } from "../domain/rule-facts.ts";
import { cardSlot, digestSlot, findApproval, type Run, type Slot } from "../domain/run.ts";
import { aboutRequest, auditEntry, momentsOf } from "../audit/entry.ts";
import { lookUp, lookUpRequester } from "../engine/fresh-facts.ts";
import type { FormTicket } from "../ports/store.ts";
import { precedentsFor } from "./form-precedents.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** How old facts for a click may be (ms): a click only opens a modal. */
export const CLICK_AGE_MS = 60_000;

/** The run with its approvals under the current rules. */
export type OpenedForm = { readonly run: Run; readonly ticket: FormTicket };

export type OpenForm = {
  /**
   * The ticket is stored when this resolves to ok; the modal carries only its nonce. Where the request must be read before it is
   * approved, the ticket is for reading, and `continueReading` opens the form.
   */
  open(click: Click, verdict: Verdict): Promise<Result<OpenedForm, RefusedAttempt>>;
  /** The person has the reading window open and wants to go on: they count as having read this version of the request. */
  continueReading(by: Submitter, nonce: Nonce | null): Promise<Result<OpenedForm, RefusedAttempt>>;
  /** The form that this person has open. Null: they have none with this nonce. */
  ofPerson(by: Submitter, nonce: Nonce | null): Promise<OpenedForm | null>;
  /** Calls `show` to open a request in full; decides nothing. Rejects with PortError if the reading could not be recorded. */
  read(click: Click, show: Show): Promise<Result<null, RefusedAttempt>>;
};

/** True: Slack opened the window. Only then does the person count as having read it. */
export type Show = (run: Run, request: FormTicket["saw"]) => Promise<boolean>;

export function createOpenForm(deps: DecideDeps): OpenForm {
  const reading = new Map<string, Promise<unknown>>();
  const keyOf = ({ user, nonce }: Click): string => `${user} ${nonce}`;
  return {
    async open(click, verdict) {
      // The person sees the window a moment before we know that it is open.
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

/** People who see the channel see the card, so they may read the request in full; others may not. */
async function readRequest(
  deps: DecideDeps,
  click: Click,
  show: Show,
): Promise<Result<null, RefusedAttempt>> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "read" });
  const { run, approval } = found.value;
  const person = await lookUp(deps, run, { user: click.user, sets: [], maxAgeMs: CLICK_AGE_MS });
  const no: Refusal | null =
    "type" in person ? person : person.seesChannel ? null : { type: "not-in-channel" };
  const { request, id } = approval;
  if (no !== null)
    return refused(deps, { refusal: no, run }, click, { step: "read", approval: id, saw: request });
  const read = (newest: Run): Run =>
    markRead(applyPolicy(newest, deps.context()), id, request.digest, click.user);
  const isOpen = await show(run, request);
  if (isOpen && read(run) !== run) await deps.engine.change(run.key, read, { mustHold: false });
  return ok(null);
}

async function openForm(
  deps: DecideDeps,
  click: Click,
  verdict: Verdict,
): Promise<Result<OpenedForm, RefusedAttempt>> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "click", verdict });
  return openFor(deps, found.value, click, verdict);
}

export type Submitter = { readonly team: TeamId; readonly user: UserId };

/** "choose": the person chooses the verdict in the form. Where they may only deny, the form is the one to deny. */
export async function openFor(
  deps: DecideDeps,
  clicked: ClickedCard & { readonly was?: FormTicket["saw"] | null },
  click: Submitter,
  asks: Verdict | "choose",
): Promise<Result<OpenedForm, RefusedAttempt>> {
  const { version, was = null } = clicked;
  const ctx = deps.context();
  const { policy, now: at, monotonic, nonce } = ctx;
  const { person, requesterIn } = await factsAtClick(deps, clicked, click.user);
  const run = applyBrake(withFreshRequester(clicked.run, requesterIn, ctx), ctx);
  const approval = findApproval(run, clicked.approval.id) ?? clicked.approval;
  const rule = ruleOf(ctx, run, approval);
  const saw = { ...approval.request, shownContext: contextBehind(run.context, approval.request) };
  const mark = ruleRefOf(policy, rule);
  const refusalTo = (verdict: Verdict): Refusal | null =>
    "type" in person
      ? person
      : refusalToOpen(approval, { run, rule, by: person, verdict, monotonic }, { version, was });
  const { verdict, choice, no } = asks === "choose" ? choiceAmong(refusalTo) : askedFor(asks, refusalTo);
  const tried = { verdict: choice ? null : verdict, moments: momentsOf(run, approval, { clicked: at }) };
  const reading = no?.type === "read-first";
  if (no !== null && !reading) {
    const attempt = { ...tried, step: "click", approval: approval.id, saw } as const;
    return refused(deps, { refusal: no, run, policy: mark }, click, attempt);
  }
  const { team, user } = click;
  const bound = { nonce: nonce(), team, user, approval: approval.id, version, run: run.key };
  const before = reading ? {} : await precedentsFor(deps, run, approval, person);
  const facts = { ...bound, verdict, saw, at, ...(choice ? { choice } : {}), ...before };
  const ticket: FormTicket = reading ? { ...facts, reading } : facts;
  const about = { ...aboutRequest(run, approval.id, saw), by: { team, user }, policy: mark };
  const opened = auditEntry(run, { at, what: "opened", outcome: "opened", ...tried, ...about });
  // A window for reading is no form to decide: like Read in full, it has no entry in the audit.
  await deps.store.saveForm(ticket, reading ? [] : [opened]);
  return ok({ run: applyPolicy(run, ctx), ticket });
}

async function factsAtClick(deps: DecideDeps, { run, approval }: ClickedCard, user: UserId) {
  const sets = setsToAskFor(run, approval, deps.context());
  const [person, requesterIn] = await Promise.all([
    lookUp(deps, run, { user, sets, maxAgeMs: CLICK_AGE_MS }),
    lookUpRequester(deps, run, CLICK_AGE_MS),
  ]);
  return { person, requesterIn };
}

type Asked = { readonly verdict: Verdict; readonly choice: boolean; readonly no: Refusal | null };

const askedFor = (verdict: Verdict, refusalTo: (verdict: Verdict) => Refusal | null): Asked => ({
  verdict,
  choice: false,
  no: refusalTo(verdict),
});

function choiceAmong(refusalTo: (verdict: Verdict) => Refusal | null): Asked {
  const no = refusalTo("approve");
  if (no === null || no.type === "read-first") return { verdict: "approve", choice: true, no };
  return refusalTo("deny") === null
    ? { verdict: "deny", choice: false, no: null }
    : { verdict: "deny", choice: false, no };
}

/**
 * The ticket was stored for this person before the window opened, and only the window has its nonce. An older version of the card
 * marks nothing as read, so the person reads the request that they decide.
 */
async function continueReading(
  deps: DecideDeps,
  by: Submitter,
  nonce: Nonce | null,
): Promise<Result<OpenedForm, RefusedAttempt>> {
  const step = "read";
  const ticket = nonce === null ? null : await deps.store.form(nonce);
  if (ticket === "changed")
    return refused(deps, { refusal: { type: "form-changed" }, run: null }, by, { step });
  const isTheirs =
    ticket?.reading === true &&
    ticket.asks === undefined &&
    ticket.team === by.team &&
    ticket.user === by.user;
  if (!isTheirs) return refused(deps, { refusal: { type: "unknown" }, run: null }, by, { step });
  const { approval: id, version, verdict, saw } = ticket;
  const read = (newest: Run): Run => {
    const shown = findApproval(newest, id)?.version === version;
    return shown ? markRead(applyPolicy(newest, deps.context()), id, saw.digest, by.user) : newest;
  };
  const run = await deps.engine.change(ticket.run, read, { mustHold: false });
  const approval = run === null ? null : findApproval(run, id);
  if (run === null || approval === null)
    return refused(deps, { refusal: { type: "unknown" }, run: null }, by, { step });
  const asks = ticket.choice === true ? "choose" : verdict;
  return openFor(deps, { run, approval, version, was: saw }, by, asks);
}

async function openedFormOf(
  { store, context }: Pick<DecideDeps, "store" | "context">,
  by: Submitter,
  nonce: Nonce | null,
): Promise<OpenedForm | null> {
  const ticket = nonce === null ? null : await store.form(nonce);
  if (ticket === null || ticket === "changed" || ticket.asks !== undefined) return null;
  if (ticket.team !== by.team || ticket.user !== by.user) return null;
  const run = (await store.load(ticket.run))?.run;
  return run === undefined ? null : { run: applyPolicy(run, context()), ticket };
}

/** Trusted only for who clicked what, and where. */
export type Click = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  /** Null: the button carried no valid nonce. */
  readonly nonce: Nonce | null;
};

/** `version`: that of the clicked card, which may be an older one. */
export type ClickedCard = { readonly run: Run; readonly approval: Approval; readonly version: number };

/** The message that holds its buttons: its card, or before there is one the digest that lists it. */
function buttonsSlot({ posts }: Run, { id, listing }: Approval): Slot {
  return listing !== undefined && isFresh(posts[cardSlot(id)]) ? digestSlot(listing.page) : cardSlot(id);
}

export async function findCard(
  { store }: Pick<DecideDeps, "store">,
  click: Click,
): Promise<Result<ClickedCard, RefusedAttempt>> {
  const button = click.nonce === null ? null : await store.byButton(click.nonce);
  const run = button === null ? null : ((await store.load(button.run))?.run ?? null);
  const approval = run === null || button === null ? null : findApproval(run, button.approval);
  if (run === null || button === null || approval === null)
    return err({ refusal: { type: "unknown" }, run: null });
  const post = run.posts[buttonsSlot(run, approval)];
  const ours = run.team === click.team && run.channel === click.channel;
  if (ours && (post?.type === "sending" || post?.type === "unsure"))
    return err({ refusal: { type: "being-posted" }, run });
  // The nonce is bound to its message: the same value in another message, channel or team is not a valid button.
  if (!ours || post?.type !== "up" || post.ts !== click.ts)
    return err({ refusal: { type: "unknown" }, run: null });
  return ok({ run, approval, version: button.version });
}
