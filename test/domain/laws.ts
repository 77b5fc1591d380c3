// The four laws: checks that watch a simulated world and throw when a law is broken.

import { markSending } from "#src/domain/apply-outcome.ts";
import { earlierVotes, withoutVotes } from "#src/domain/approval-transitions.ts";
import { callSlot, isCurrent } from "#src/domain/call.ts";
import type { Approval, Decision } from "#src/domain/approval.ts";
import { type Delivery, isFinal } from "#src/domain/delivery-state.ts";
import { effectKey, markedEffects } from "#src/domain/effect.ts";
import { isAboutDecision } from "#src/domain/notice.ts";
import { needsFile } from "#src/domain/text/request-text.ts";
import { findApproval, isMissing, type Run } from "#src/domain/run.ts";
import { cardSlot, OPENING, requestSlot } from "#src/domain/slot.ts";
import { renderKey } from "#src/domain/render-key.ts";
import type { Taken } from "./learnt.ts";
import { newest } from "./simulated-people.ts";
import { drawn } from "./simulated-slack.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** `copies`: how many messages of one slot may exist at a time. A late arrival may add one until it is swept. */
export function watchLaws(world: SimulatedWorld, copies: 1 | "a few"): void {
  world.onSave((before, after) => {
    final(before, after);
    patient(world, before, after);
    once(world);
    authorised(world);
    marksAreFound(world);
    noticesLeave(world, after);
    if (copies === 1) oneMessageEach(world);
    if (copies === 1) oneAtATime(world);
  });
}

/** To be called when the world has come to rest. */
export function lawsAtRest(world: SimulatedWorld): void {
  calledInTurn(world);
  quiet(world);
  once(world);
  authorised(world);
  oneMessageEach(world);
  nothingLost(world);
  nothingDoubled(world);
  noticesArrive(world);
}

/**
 * At rest, every call that is still due was posted once (`oneMessageEach` counts). No stage comes before its time, before an earlier stage,
 * or twice.
 */
function calledInTurn({ run, slack }: SimulatedWorld): void {
  for (const approval of run.approvals) {
    const stages = approval.followUp?.stages ?? [];
    for (const [at, { afterMs, age }] of stages.entries()) {
      const before = stages[at - 1];
      const inTurn =
        age >= afterMs && (before === undefined || (before.afterMs < afterMs && before.age < age));
      must("in turn", inTurn, `a stage of ${approval.id} came out of turn`);
    }
    for (const call of approval.calls ?? []) {
      const slot = callSlot(approval, call);
      const posted = run.posts[slot];
      const hidden =
        posted?.type === "refused" || slack.deleted.has(slot) || run.posts[OPENING]?.type !== "up";
      if (!isCurrent({ approval, call }) || hidden || !run.approvals.includes(approval)) continue;
      must("crash", posted?.type === "up", `the call ${call.n} of ${approval.id} was lost`);
    }
  }
}

class BrokenLaw extends Error {
  override readonly name = "BrokenLaw";
}

function must(law: string, holds: boolean, words: string): void {
  if (!holds) throw new BrokenLaw(`${law}: ${words}`);
}

function quiet(world: SimulatedWorld): void {
  const { plan, run } = world;
  must("quiet", plan.effects.length === 0, `asks for ${JSON.stringify(plan.effects)} at rest`);
  const isIdle = markedEffects(run).length === 0 && run.notices.length === 0;
  must("quiet", isIdle, "something is marked at rest, and nothing executes it");
  must("quiet", plan.wakeAt === null && plan.fetchAt === null, "wants to be woken at rest");
  world.fetchRun("fresh");
  must("quiet", world.run === run, "a look that teaches nothing makes another run");
}

/** After a crash, recovery finds every mark. An update is the exception: its mark is the empty render key. */
function marksAreFound({ run, plan, now }: SimulatedWorld): void {
  for (const effect of plan.effects) {
    const marked = markSending(run, effect, now);
    if (marked === run || effect.type === "update") continue;
    const isFound = markedEffects(marked).some((each) => effectKey(each) === effectKey(effect));
    must("crash", isFound, `the mark of ${effectKey(effect)} would never be settled`);
  }
}

/** A decision with other content leaves only when all earlier POSTs are known not to have been applied. */
function once(world: SimulatedWorld): void {
  for (const [index, later] of world.sent.entries()) {
    for (const earlier of world.sent.slice(0, index)) {
      if (earlier.approval !== later.approval || sameDecision(earlier.decision, later.decision)) continue;
      must("once", earlier.disproved, `a second decision of ${later.approval} left, and the first may hold`);
    }
  }
  for (const { approval, asked, decision } of world.sent)
    must("once", asked === decision.digest, `what left for ${approval} is not what was asked for`);
  const resolved = world.service.applied.map(({ item }) => item);
  must("once", new Set(resolved).size === resolved.length, "a request was resolved twice");
  const taken = world.service.applied.map(({ decision }) => decision);
  const twice = taken.some((each, index) => taken.slice(0, index).some((one) => sameDecision(one, each)));
  must("once", !twice, "a decision took effect twice");
}

/** One failed look is not believed: an absence takes several looks in a row, over ten seconds, all by one process. */
function patient({ learnt: { taken } }: SimulatedWorld, before: Run, after: Run): void {
  if (isMissing(after) && !isMissing(before))
    must(
      "patient",
      isGoneFrom(taken, ({ missing }) => missing),
      "the run is considered missing too early",
    );
  if (isMissing(after)) return;
  for (const approval of before.approvals) {
    const next = findApproval(after, approval.id);
    if (next === null || after.watch.type !== "on" || !isConsideredGone(approval, next)) continue;
    const withList = taken.filter(({ listed }) => listed !== null);
    const isGone = isGoneFrom(withList, ({ listed }) =>
      isMissed(before, approval, listed?.get(approval.serviceId)),
    );
    must("patient", isGone, `${approval.id} is considered gone too early`);
  }
}

/** Whether nothing is listed under its id, or only a request that was already decided under that id. */
function isMissed({ approvals }: Run, { serviceId, request }: Approval, listed: string | undefined): boolean {
  if (listed === undefined) return true;
  if (listed === request.digest) return false;
  return approvals.some((each) => each.serviceId === serviceId && isSettledAs(each, listed));
}

function isSettledAs({ state }: Approval, digest: string): boolean {
  return state.type === "decided" && isFinal(state.delivery) && state.decision.digest === digest;
}

function isGoneFrom(looks: readonly Taken[], misses: (fetched: Taken) => boolean): boolean {
  const row = looks.slice(looks.findLastIndex((fetched) => !misses(fetched)) + 1);
  const [first, last] = [row[0], row.at(-1)];
  if (first === undefined || last === undefined) return false;
  return row.length >= 3 && last.askedAt - first.answeredAt >= 10_000;
}

/** Whether it was closed only because the service does not list it. */
function isConsideredGone(before: Approval, { state, past }: Approval): boolean {
  const closes =
    before.state.type !== "closed" && state.type === "closed" && state.cause === "no-longer-listed";
  const voids = past.slice(before.past.length).some(({ cause: because }) => because === "no-longer-listed");
  if (before.state.type !== "decided" || state.type !== "decided") return closes || voids;
  const [was, is] = [before.state.delivery, state.delivery];
  const leaves = is.type === "refused" && is.absent && !(was.type === "refused" && was.absent);
  const unresolved = was.type === "unsure" || was.type === "retry";
  const ends = unresolved && is.type === "unconfirmed" && is.cause === "no-longer-listed";
  return closes || voids || leaves || ends;
}

/** A decision that leaves was submitted by enough different people, or follows from the rule itself, and does not leave before its time. */
function authorised({ sent, people, ctx, brakes: { stoppers } }: SimulatedWorld): void {
  const [rule] = ctx.policy.rules;
  if (rule === undefined) throw new Error("a world without a rule");
  for (const { approval, decision, at } of sent) {
    const given = [...earlierVotes(decision), withoutVotes(decision)];
    if (decision.by === null) {
      const { stoppedBy } = decision;
      const allowed = stoppedBy === undefined ? rule.expiry?.outcome === "deny" : stoppers.has(stoppedBy);
      must("forged", decision.verdict === "deny" && allowed, "nobody decided that");
      must("forged", earlierVotes(decision).length === 0, "the policy counts votes");
      continue;
    }
    const by = new Set(given.map((each) => each.by?.user));
    const enough = decision.verdict === "deny" || by.size >= rule.needs;
    must("forged", enough && by.size === given.length, `${approval} left although too few had approved it`);
    for (const each of given) {
      must("forged", each.verdict === decision.verdict, "a denial was counted as an approval");
      must(
        "forged",
        isIn(people.committed, approval, each),
        `nobody submitted the vote that left for ${approval}`,
      );
      must("undo", !isIn(people.undone, approval, each), `${approval} left although it was undone`);
    }
    if (decision.verdict === "approve")
      must("hold", at >= decision.at + rule.holdMs, "the decision left before its hold ended");
  }
}

type Given = { readonly approval: Approval["id"]; readonly decision: Decision };

function isIn(all: readonly Given[], id: Approval["id"], decision: Decision): boolean {
  return all.some((each) => each.approval === id && sameDecision(each.decision, decision));
}

/** The same content is sent again only when the earlier POST can no longer arrive. */
function oneAtATime({ sent }: SimulatedWorld): void {
  const last = sent.at(-1);
  const early = sent
    .slice(0, -1)
    .find((each) => each.approval === last?.approval && each.arrivesBy > last.at);
  must(
    "once",
    early === undefined,
    `a decision of ${last?.approval} left while an earlier POST could still arrive`,
  );
}

/** If Slack refuses to let us read a message back, its number of copies is unknown. */
function oneMessageEach({ slack, run }: SimulatedWorld): void {
  const unread = (slot: string): boolean => run.posts[slot]?.type === "refused" || slack.unswept.has(slot);
  const slots = slack.messages.map(({ slot }) => slot).filter((slot) => !unread(slot));
  const twice = slots.find((slot, index) => slots.indexOf(slot) !== index);
  must("once", twice === undefined, `"${twice}" is up twice`);
}

function final(before: Run, after: Run): void {
  for (const approval of before.approvals) {
    const next = findApproval(after, approval.id);
    must("final", next !== null, `${approval.id} is forgotten`);
    if (next !== null) finalApproval(approval, next);
  }
  for (const [at, fresh] of after.approvals.entries()) {
    if (at < before.approvals.length) continue;
    const last = newest({ ...after, approvals: after.approvals.slice(0, at) }, fresh.serviceId);
    const another = last === null || (isSettledNow(last) && !isSettledAs(last, fresh.request.digest));
    must("final", another, `${fresh.serviceId} counts as reused before its first use is over`);
  }
}

function finalApproval({ state, past, version, id, votes }: Approval, next: Approval): void {
  const kept = past.every((each, index) => next.past[index] === each);
  must("final", kept && next.version >= version, `the history of ${id} was rewritten`);
  for (const vote of votes) must("final", standsIn(next, vote), `an approval of ${id} among several is gone`);
  if (state.type !== "decided") return;
  if (state.delivery.type === "held") {
    for (const each of [...earlierVotes(state.decision), withoutVotes(state.decision)])
      must("final", standsIn(next, each), `a held approval of ${id} is gone`);
    return;
  }
  if (next.state.type === "decided" && next.state.decision.stoppedBy !== undefined) {
    if (sameDecision(state.decision, next.state.decision)) return deliveryStays(state.delivery, next, id);
    // A stop replaces a decision that the service certainly does not have by a denial, in the same step.
    const { delivery } = state;
    const unsent =
      delivery.type === "recorded" ||
      ((delivery.type === "retry" || delivery.type === "sending") && !delivery.lost);
    const isRecorded = next.past
      .slice(past.length)
      .some((each) => sameDecision(each.decision, withoutVotes(state.decision)));
    must(
      "final",
      (unsent || delivery.type === "refused") && isRecorded,
      `the decision of ${id} became another`,
    );
    return;
  }
  if (next.state.type === "decided") {
    const same = sameDecision(state.decision, next.state.decision);
    must("final", same, `the decision of ${id} became another`);
  } else {
    // Recorded as a replaced decision, or kept as one approval among several.
    const given = [...earlierVotes(state.decision), withoutVotes(state.decision)];
    const recorded = [...next.past.slice(past.length).map(({ decision }) => decision), ...next.votes];
    const all =
      recorded.length === given.length &&
      given.every((each) => recorded.some((past) => sameDecision(past, each)));
    must("final", all, `a decision of ${id} is gone without a record`);
  }
  deliveryStays(state.delivery, next, id);
}

function deliveryStays(delivery: Delivery, { state }: Approval, id: Approval["id"]): void {
  if (!isFinal(delivery)) return;
  const settled = state.type === "decided" ? state.delivery : null;
  must("final", settled?.type === delivery.type, `${id} was ${delivery.type}, and is no longer`);
}

/** Whether it is recorded as the decision or a part of it, as a vote, or among the past decisions. */
function standsIn({ state, votes, past }: Approval, decision: Decision): boolean {
  const decided = state.type === "decided" ? [...earlierVotes(state.decision), state.decision] : [];
  const all = [...decided, ...votes, ...past.map((each) => each.decision)];
  return all.filter((each) => sameDecision(each, decision)).length === 1;
}

function nothingLost(world: SimulatedWorld): void {
  const { run, service } = world;
  if (run.watch.type === "on" && run.creation.type === "created") {
    for (const [id, { listed, content }] of service.items) {
      if (!listed || service.ended) continue;
      const approval = newest(run, id);
      must("crash", approval !== null, `nobody sees ${id}`);
      if (approval?.state.type === "decided") must("crash", isSettledNow(approval), `${id} hangs`);
      else if (approval?.state.type === "closed")
        must("crash", approval.state.cause === "expired", `${id} is pending, and its card is closed`);
      const open = approval?.state.type === "pending" || approval?.state.type === "decided";
      const current = !open || JSON.stringify(approval.request.content) === JSON.stringify(content);
      must("crash", current, `the card of ${id} shows what was asked before`);
    }
  }
  for (const approval of run.approvals) cardIsTrue(world, approval);
  for (const { approval, decision } of world.people.committed) decisionIsRecorded(world, approval, decision);
}

function isSettledNow({ state }: Approval): boolean {
  return state.type === "decided" && isFinal(state.delivery);
}

/** A refusal stands until the service lists the approval again. */
function isOver(delivery: Delivery): boolean {
  return isFinal(delivery) || delivery.type === "refused";
}

/** Returns the message that we take for the slot's. */
function known({ run, slack }: Pick<SimulatedWorld, "run" | "slack">, slot: string) {
  const post = run.posts[slot];
  return slack.messages.find(({ ts }) => post?.type === "up" && post.ts === ts);
}

/** The only message of the card shows the state of the approval. A long request can be read before it is decided. */
function cardIsTrue({ run, slack }: SimulatedWorld, approval: Approval): void {
  const slot = cardSlot(approval.id);
  if (renderKey(run, slot) === null) return;
  const card = known({ run, slack }, slot);
  if ((card === undefined && slack.deleted.has(slot)) || slack.torn.has(slot)) return;
  must("crash", card !== undefined, `${approval.id} has no card`);
  const wanted = drawn(run, slot);
  must("crash", card?.text === wanted, `the card of ${approval.id} says "${card?.text}", not "${wanted}"`);
  if (approval.state.type !== "pending" || !needsFile(approval.request)) return;
  const upload = run.uploads[requestSlot(approval)]?.type;
  must("crash", upload === "up" || upload === "refused", `the request of ${approval.id} is not attached`);
}

/** Nothing is claimed about a decision that the service would deny. */
function decisionIsRecorded({ run, service }: SimulatedWorld, id: Approval["id"], decision: Decision): void {
  const approval = findApproval(run, id);
  const applied = service.applied.filter((each) => holds(each.decision, decision)).length;
  const past = approval?.past.some((each) => sameDecision(each.decision, decision)) === true;
  const state = approval?.state.type === "decided" ? approval.state : null;
  const now = state !== null && holds(state.decision, decision) ? state.delivery : null;
  const votes = approval?.votes.some((each) => sameDecision(each, decision)) === true;
  const places = [past, now !== null, votes].filter(Boolean).length;
  must("crash", places === 1, `a decision of ${id} is lost or recorded twice`);
  if (votes) return must("crash", applied === 0, `${id} waits for more, but it was applied`);
  if (past) return must("crash", applied === 0, `${id} says that nothing was applied, but it was`);
  must("crash", now !== null && isOver(now), `a decision of ${id} never comes to an end`);
  if (now?.type === "confirmed") must("crash", applied === 1, `${id} says confirmed, but it was not applied`);
  if (now?.type === "refused") must("crash", applied === 0, `${id} says refused, but it was applied`);
  if (now?.type === "elsewhere") must("crash", applied === 0, `${id} says elsewhere, but it was ours`);
}

/** Whether it is the decision itself, or one of the votes that it rests on. */
const holds = (whole: Decision, decision: Decision): boolean =>
  [...earlierVotes(whole), whole].some((each) => sameDecision(each, decision));

function nothingDoubled({ run, service, slack }: SimulatedWorld): void {
  must("crash", service.created.length <= 1, "one intention made two runs");
  const claims = run.creation.type === "created" ? 1 : run.creation.type === "refused" ? 0 : null;
  must("crash", claims === null || service.created.length === claims, "the opening message is not true");
  const opening = known({ run, slack }, OPENING);
  const isGone = opening === undefined && slack.deleted.has(OPENING);
  const free = run.posts[OPENING]?.type !== "up" || isGone || slack.torn.has(OPENING);
  const said = free || opening?.text === drawn(run, OPENING);
  must("crash", said, "the opening message is stale");
}

/** No notice leaves again once Slack has accepted or refused it. */
function noticesLeave({ slack }: SimulatedWorld, { notices }: Run): void {
  for (const { id, says, state } of notices) {
    must("crash", !slack.answered.has(id), "a notice waits that Slack has answered");
    if (state === "sending") slack.marked.set(id, says);
  }
}

/** A notice about a decision arrives unless Slack refuses it, and may arrive twice. Any other notice arrives at most once. */
function noticesArrive({ slack: { told, marked, answered } }: SimulatedWorld): void {
  for (const [id, says] of marked) {
    // "Your approval still counts" is taken back when it no longer does.
    const mayGo = "cause" in says && says.cause === "others-needed";
    if (isAboutDecision(says)) must("crash", mayGo || answered.has(id), `${says.type} is lost`);
    else must("crash", told.filter((each) => each === id).length <= 1, "someone was told twice");
  }
}

function sameDecision(a: Decision, b: Decision): boolean {
  return a.verdict === b.verdict && a.reason === b.reason && a.at === b.at && a.digest === b.digest;
}
