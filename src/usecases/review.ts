// "Review" in the queue opens the form for one request, or one form for several requests. The button's value contains a card's nonce and is
// bound to its reader, so it opens nothing for another person. Who may decide is looked up as for a click on a card.

import { ruleOf, ruleRefOf } from "../domain/applied-rule.ts";
import type { Approval } from "../domain/approval.ts";
import type { Refusal } from "../domain/authorization.ts";
import { asOfNow } from "../domain/bring-up-to-date.ts";
import { Nonce, parsed, type PersonId } from "../domain/ids.ts";
import {
  rotatedAfter,
  groupAround,
  needsOwnForm,
  placeOf,
  type QueueItem,
  type QueuePlace,
  type ReviewGroup,
} from "../domain/queue.ts";
import { shownQuestion } from "../domain/question.ts";
import { ok, type Result } from "../domain/result.ts";
import { asShown } from "../domain/run-context.ts";
import { findApproval, isBraked, type Run } from "../domain/run.ts";
import { asPromised, promiseOf } from "../domain/submission.ts";
import { requestSlot } from "../domain/slot.ts";
import { needsFile, shownChars } from "../domain/text/request-text.ts";
import { aboutRequest, auditEntry, type AuditEntry, momentsOf } from "../audit/entry.ts";
import type { FormTicket } from "../ports/store.ts";
import { formToDecide } from "./form-ticket.ts";
import { approvalOfButton, type OpenedForm, openFormForCard } from "./open-form.ts";
import { type QueueDeps, readQueue, type WholeQueue } from "./read-queue.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** What a button of the queue opens: one request, all requests of its run, or all requests under its rule in its channel. */
export type ReviewKind = "one" | ReviewGroup["kind"];

export type Review = {
  /** Returns the value of a button for this person. `nonce`: the nonce of the card, or of any card of the group. */
  valueFor(kind: ReviewKind, by: PersonId, nonce: Nonce): string;
  /** Opens the form like a click on the card, except that the person chooses the verdict in the form. */
  open(by: PersonId, value: string): Promise<Result<OpenedForm, RefusedAttempt>>;
  /** `last`: the place of the last request in the form before, if there was one. The requests behind it come first, so that all get shown. */
  openSeveral(
    by: PersonId,
    kind: ReviewGroup["kind"],
    value: string,
    last?: QueuePlace | null,
  ): Promise<Result<OpenedReview, RefusedAttempt>>;
  /**
   * Resolves to the form that this person has open, so that it can be drawn again. `shown`: the nonces of the requests that it shows.
   * Resolves to null if one of them does not belong to this form of theirs. Rejects with PortError as `openSeveral` does.
   */
  severalOfPerson(
    by: PersonId,
    bundle: Nonce | null,
    shown: readonly (Nonce | null)[],
    opener: Opener,
  ): Promise<OpenedReview | null>;
};

export type ReviewForm = {
  readonly item: Pick<QueueItem, "run" | "approval" | "rule">;
  readonly nonce: Nonce;
};

export type OpenedReview = {
  /** The nonce of the whole form. Each of its requests has a nonce of its own as well. */
  readonly bundle: Nonce;
  readonly forms: readonly ReviewForm[];
  /** The requests that need their own form, because of friction, a hold or their length. */
  readonly apart: readonly QueueItem[];
  /** The requests that did not fit. */
  readonly later: readonly QueueItem[];
  /** The button that opened the form. It also opens the next requests. */
  readonly kind: ReviewGroup["kind"];
  readonly value: string;
  /** The place of the last request in the form. Null if the form has none. */
  readonly last: QueuePlace | null;
};

type Opener = Pick<OpenedReview, "kind" | "value" | "last">;

/** The maximum number of requests in one form. With three blocks each, they stay below the 100 blocks of a modal. */
export const MAX_TOGETHER = 20;
/**
 * The maximum length of the texts of these requests and their runs, and of what people said about them (characters). A view has at most
 * 250 kB, and a character several bytes.
 */
const MAX_CHARS = 40_000;
/** The room for who said something, and when (characters). */
const SAID_BY_CHARS = 200;

type Deps = DecideDeps & QueueDeps;

export function createReview(deps: Deps): Review {
  return {
    valueFor: (kind, by, nonce) => valueFor(deps, kind, by, nonce),
    open: (by, value) => openOne(deps, by, value),
    openSeveral: (by, kind, value, last = null) => openSeveral(deps, by, { kind, value, last }),
    severalOfPerson: (by, bundle, shown, opener) => severalOfPerson(deps, by, { bundle, shown }, opener),
  };
}

function valueFor({ store }: Pick<Deps, "store">, kind: ReviewKind, by: PersonId, nonce: Nonce): string {
  return `${nonce}.${store.macOf(["review", kind, by.team, by.user, nonce])}`;
}

type Found = { readonly run: Run; readonly approval: Approval };

/** Resolves to null if we never offered this value to this person for this kind of button. */
async function findReviewed(
  deps: Deps,
  kind: ReviewKind,
  by: PersonId,
  value: string,
): Promise<Found | null> {
  const nonce = parsed<Nonce>(Nonce, value.split(".")[0]);
  if (nonce === null || value !== valueFor(deps, kind, by, nonce)) return null;
  const found = await approvalOfButton(deps, nonce);
  return found?.run.team === by.team ? found : null;
}

const UNKNOWN = { refusal: { type: "unknown" }, run: null } as const;

async function openOne(deps: Deps, by: PersonId, value: string): Promise<Result<OpenedForm, RefusedAttempt>> {
  const found = await findReviewed(deps, "one", by, value);
  if (found === null) return refused(deps, UNKNOWN, by, { step: "click" });
  const { run, approval } = found;
  const refusal = refusalWithoutFile(run, approval);
  if (refusal !== null) {
    const attempt = { step: "click", approval: approval.id, saw: approval.request } as const;
    return refused(deps, { refusal, run }, by, attempt);
  }
  // The form shows the current request, so it is for the newest version of the card, whichever version the queue showed.
  return openFormForCard(deps, { run, approval, version: approval.version }, by, "choose");
}

/** While the file with the whole request is not attached, the card has no buttons either. */
function refusalWithoutFile(run: Run, approval: Approval): Refusal | null {
  if (approval.state.type !== "pending" || !needsFile(approval.request)) return null;
  const upload = run.uploads[requestSlot(approval)];
  if (upload?.type === "up") return null;
  return upload?.type === "refused"
    ? { type: "file-refused", words: upload.words, isBraked: isBraked(run) }
    : { type: "being-posted" };
}

async function openSeveral(
  deps: Deps,
  by: PersonId,
  { kind, value, last: before }: Opener,
): Promise<Result<OpenedReview, RefusedAttempt>> {
  const found = await findReviewed(deps, kind, by, value);
  if (found === null) return refused(deps, UNKNOWN, by, { step: "click" });
  const { run, approval } = found;
  const ctx = deps.context();
  const rule = ruleOf(ctx, run, approval);
  const queue = await readQueue(deps, by, { only: run.channel });
  const group = groupAround(queue.yours, kind, { run, rule });
  if (group.length === 0) {
    const attempt = { step: "click", approval: approval.id, saw: approval.request } as const;
    return refused(deps, { refusal: whyNone(queue, kind, { run, approval, rule }), run }, by, attempt);
  }
  const { forms, later } = packed(deps, before === null ? group : rotatedAfter(before, group));
  const bundle = ctx.nonce();
  // The form is from before its look-ups, during which others may have decided.
  await storeForms(deps, by, { bundle, at: ctx.now }, forms);
  const end = forms.at(-1);
  const last = end === undefined ? null : placeOf(end.item);
  return ok({ bundle, forms: shownTo(queue, forms), apart: group.filter(isApart), later, kind, value, last });
}

/** The precedents of a card are for the people in its channel. An escalation may have brought in a reader from outside. */
function shownTo({ channels }: WholeQueue, forms: readonly ReviewForm[]): readonly ReviewForm[] {
  return forms.map((form) => {
    const { precedents: _hidden, ...approval } = form.item.approval;
    return channels.has(form.item.run.channel) ? form : { ...form, item: { ...form.item, approval } };
  });
}

type ShownReview = { readonly bundle: Nonce | null; readonly shown: readonly (Nonce | null)[] };

async function severalOfPerson(
  deps: Deps,
  by: PersonId,
  { bundle, shown }: ShownReview,
  { kind, value, last }: Opener,
): Promise<OpenedReview | null> {
  if (bundle === null || shown.length === 0 || shown.length > MAX_TOGETHER) return null;
  const read = await Promise.all(shown.map((nonce) => shownForm(deps, by, bundle, nonce)));
  const forms = read.filter((form) => form !== null);
  const found = await findReviewed(deps, kind, by, value);
  if (forms.length < shown.length || found === null) return null;
  const { run, approval } = found;
  const rule = ruleOf(deps.context(), run, approval);
  const queue = await readQueue(deps, by, { only: run.channel });
  const isShown = (other: QueueItem): boolean =>
    forms.some(({ item }) => item.run.key === other.run.key && item.approval.id === other.approval.id);
  const others = groupAround(queue.yours, kind, { run, rule }).filter((item) => !isShown(item));
  return {
    bundle,
    forms: shownTo(queue, forms),
    apart: others.filter(isApart),
    later: others.filter((item) => !isApart(item)),
    kind,
    value,
    last,
  };
}

/** Resolves to one request as the form shows it, which may have changed since. */
async function shownForm(
  deps: Deps,
  by: PersonId,
  bundle: Nonce,
  nonce: Nonce | null,
): Promise<ReviewForm | null> {
  const ticket = await formToDecide(deps, by, nonce, bundle);
  if ("type" in ticket) return null;
  const run = (await deps.store.load(ticket.run))?.run;
  const approval = run === undefined ? null : findApproval(run, ticket.approval);
  if (run === undefined || approval === null) return null;
  const { saw, nonce: known, promised } = ticket;
  const shown = { ...approval, request: saw };
  const rule = ruleOf(deps.context(), run, shown);
  const drawn = asPromised(asOfNow(run, null, deps.context()), approval.id, promised);
  return { item: { run: drawn, approval: shown, rule }, nonce: known };
}

/** Returns the reason why nothing of the group waits for this person. If Slack did not say who may decide one of them, it may wait. */
function whyNone(
  { closedTo, others, channels }: WholeQueue,
  kind: ReviewGroup["kind"],
  { run, approval, rule }: Pick<QueueItem, "run" | "approval" | "rule">,
): Refusal {
  if (closedTo !== null) return { type: closedTo };
  if (channels.size === 0) return { type: "not-in-channel" };
  const ofGroup = groupAround(others, kind, { run, rule });
  const unverified = ofGroup.find(({ refusal }) => refusal?.type === "unverified")?.refusal;
  const item = others.find((other) => other.run.key === run.key && other.approval.id === approval.id);
  return unverified ?? item?.refusal ?? { type: "unknown" };
}

type Packed = Pick<OpenedReview, "later"> & {
  readonly forms: readonly (ReviewForm & { readonly item: QueueItem })[];
};

/** Takes as many requests as one form can hold in full, in this order. */
function packed(deps: Deps, items: readonly QueueItem[]): Packed {
  const together: QueueItem[] = [];
  const later: QueueItem[] = [];
  let chars = 0;
  for (const item of items.filter((candidate) => !isApart(candidate))) {
    chars += charsOf(item.approval);
    if (later.length === 0 && together.length < MAX_TOGETHER && chars <= MAX_CHARS) together.push(item);
    else later.push(item);
  }
  const ctx = deps.context();
  return {
    forms: together.map((item) => ({ item, nonce: ctx.nonce() })),
    later,
  };
}

/** A request that is too long for the form with others would keep all those behind it from the next form too. */
const isApart = (item: QueueItem): boolean => needsOwnForm(item) || charsOf(item.approval) > MAX_CHARS;

/** Returns the length of everything that the form shows of a request. */
function charsOf(approval: Approval): number {
  const question = shownQuestion(approval);
  const said = [
    ...approval.votes.map(({ reason }) => reason),
    ...(question === null ? [] : [question.text, question.answer?.text ?? ""]),
  ];
  return said.reduce((sum, { length }) => sum + length + SAID_BY_CHARS, shownChars(approval.request));
}

async function storeForms(
  deps: Deps,
  { team, user }: PersonId,
  { bundle, at }: { readonly bundle: Nonce; readonly at: number },
  forms: Packed["forms"],
): Promise<void> {
  const { policy } = deps.context();
  const made = forms.map(({ item: { run, approval, rule }, nonce }): [FormTicket, AuditEntry] => {
    const saw = asShown(run, approval.request);
    const bound = { nonce, team, user, approval: approval.id, version: approval.version, run: run.key };
    const promised = promiseOf((findApproval(run, approval.id) ?? approval).appliedRule.rule);
    const ticket: FormTicket = { ...bound, verdict: "approve", choice: true, bundle, saw, at, promised };
    const moments = momentsOf(run, approval, { clicked: at });
    const about = {
      ...aboutRequest(run, approval.id, saw),
      by: { team, user },
      policy: ruleRefOf(policy, rule),
    };
    return [ticket, auditEntry(run, { at, what: "opened", outcome: "opened", moments, ...about })];
  });
  await deps.store.saveForms(
    made.map(([ticket]) => ticket),
    made.map(([, entry]) => entry),
  );
}
