// Looks up the earlier decisions on the same request. The audit's index finds them, and its signed entries say what they are. A decision is
// left out if the readers may not know of it, or if that cannot be found out.

import { lookUpKeyOf, ruleOf } from "../domain/applied-rule.ts";
import type { Approval, Verdict } from "../domain/approval.ts";
import type { Context } from "../domain/context.ts";
import type { Outcome } from "../domain/effect.ts";
import type { ApprovalId, ChannelId, UserId } from "../domain/ids.ts";
import {
  MAX_PRECEDENTS,
  MAX_READ,
  NO_PRECEDENTS,
  type Precedent,
  PRECEDENT_AGE_MS,
  type Precedents,
} from "../domain/precedent.ts";
import { askedText } from "../domain/same-request.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { oneLine } from "../domain/text/excerpt.ts";
import { type People, PortError } from "../ports.ts";
import type { AuditLog } from "../ports/audit-store.ts";
import { SHOWN_AGE_MS } from "./fresh-facts.ts";

export type PrecedentDeps = {
  readonly store: Pick<AuditLog, "decidedBefore" | "provenEntry" | "auditText">;
  readonly context: () => Pick<Context, "policy" | "now" | "monotonic" | "digest">;
};

/** Resolves to whether the readers may know what was decided in this channel. */
export type MayKnow = (channel: ChannelId) => Promise<boolean>;

/** The length of a denial's reason, in one line, in characters. Our choice: two lines on a phone. The denied request's card shows more. */
const REASON_CHARS = 80;

/** Rejects with PortError. */
export async function findPrecedents(
  deps: PrecedentDeps,
  run: Run,
  approval: Approval,
  mayKnow: MayKnow,
): Promise<Precedents> {
  const ctx = deps.context();
  const { now, digest } = ctx;
  const text = askedText(run, approval, ruleOf(ctx, run, approval).name);
  if (text === null) return NO_PRECEDENTS;
  const asked = { digest: digest(text), since: now - PRECEDENT_AGE_MS };
  const mayKnowOnce = askOnce(mayKnow);
  const denied = await findNewest(deps, { ...asked, verdict: "deny" }, mayKnowOnce);
  const approved = await findNewest(deps, { ...asked, verdict: "approve" }, mayKnowOnce);
  const isUnread = [denied, approved].some(({ visible, cut }) => cut && visible.length === 0);
  const denial = precedentIn(denied);
  return {
    denied: denial && { ...denial, reason: oneLine(denied.visible[0]?.reason ?? "", REASON_CHARS) },
    approved: precedentIn(approved),
    ...(isUnread ? { unread: true } : {}),
  };
}

/** Asks only once about each channel. */
function askOnce(mayKnow: MayKnow): MayKnow {
  const answers = new Map<ChannelId, Promise<boolean>>();
  return (channel) => {
    const answer = answers.get(channel) ?? unknownIsNo(mayKnow(channel));
    answers.set(channel, answer);
    return answer;
  };
}

async function unknownIsNo(answer: Promise<boolean>): Promise<boolean> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PortError) return false;
    throw error;
  }
}

type Asked = { readonly verdict: Verdict; readonly digest: string; readonly since: number };
type Decided = {
  readonly seq: number;
  readonly by: UserId;
  readonly at: number;
  readonly channel: ChannelId;
  readonly reason: string;
};

/** `cut`: there are more decisions than we read. */
type Found = { readonly visible: readonly Decided[]; readonly cut: boolean };

/** Resolves to the newest decisions that the readers may know of. */
async function findNewest(deps: PrecedentDeps, asked: Asked, mayKnow: MayKnow): Promise<Found> {
  const numbers = await deps.store.decidedBefore(asked, MAX_READ);
  const visible: Decided[] = [];
  for (let from = 0; from < numbers.length && visible.length < MAX_PRECEDENTS; from += MAX_PRECEDENTS) {
    const some = numbers.slice(from, from + MAX_PRECEDENTS);
    for (const decided of await Promise.all(some.map((seq) => decidedIn(deps, seq, asked))))
      if (decided !== null && (await mayKnow(decided.channel))) visible.push(decided);
  }
  return { visible: visible.slice(0, MAX_PRECEDENTS), cut: numbers.length === MAX_READ };
}

function precedentIn({ visible, cut }: Found): Precedent | null {
  const [newest] = visible;
  if (newest === undefined) return null;
  const { seq, by, at } = newest;
  const more = cut || visible.length === MAX_PRECEDENTS;
  return { times: visible.length, more, entry: seq, by, at };
}

/**
 * Resolves to null if the signed entry contradicts the index, if its request was erased, or if the person decided on their own request.
 */
async function decidedIn({ store }: PrecedentDeps, seq: number, asked: Asked): Promise<Decided | null> {
  const proven = await store.provenEntry(seq);
  if (!proven.ok) return null;
  const { entry } = proven.kept;
  const { by, requester, channel, at, reason, digest } = entry;
  const matchesIndex =
    entry.what === "settled" &&
    entry.outcome === "confirmed" &&
    entry.verdict === asked.verdict &&
    entry.asked === asked.digest &&
    at >= asked.since;
  if (!matchesIndex || by === null || channel === null || digest === null || by.user === requester?.user)
    return null;
  if ((await store.auditText(digest)) === null) return null;
  return { seq, by: by.user, at, channel, reason: reason ?? "" };
}

// Precedents for a card, which every member of its channel can read.

/** In a larger channel, it is too costly to find out whether all members are full members. Our choice. */
const MAX_MEMBERS = 50;
const AT_ONCE = 5;

type Readers = Pick<People, "isPublic" | "membersOf" | "lookUp">;

export async function lookUpPrecedents(
  deps: PrecedentDeps & { readonly people: Readers },
  run: Run,
  id: ApprovalId,
): Promise<Outcome> {
  const approval = findApproval(run, id);
  if (approval === null) return { type: "gone" };
  const of = lookUpKeyOf(approval);
  let areMembers: Promise<boolean> | null = null;
  const mayKnow: MayKnow = async (channel) => {
    if (channel === run.channel) return true;
    if (!(await deps.people.isPublic(channel, SHOWN_AGE_MS))) return false;
    return (areMembers ??= haveNoGuests(deps.people, run));
  };
  try {
    return { type: "precedents", of, ...(await findPrecedents(deps, run, approval, mayKnow)) };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { type: "precedents", of, ...NO_PRECEDENTS };
  }
}

/** Every full member may open a public channel. Guests and people of other organizations may not. */
async function haveNoGuests(people: Readers, { team, channel }: Run): Promise<boolean> {
  const members = await people.membersOf(channel, SHOWN_AGE_MS);
  if (members.length > MAX_MEMBERS) return false;
  for (let from = 0; from < members.length; from += AT_ONCE) {
    const some = members.slice(from, from + AT_ONCE);
    const found = await Promise.all(some.map((user) => people.lookUp(team, user, channel, SHOWN_AGE_MS)));
    if (found.some(({ kind }) => kind === "guest" || kind === "outsider")) return false;
  }
  return true;
}
