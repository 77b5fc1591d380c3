// What must hold once there are no more faults and nothing is left to do.

import type { KeptEntry } from "#src/audit/entry.ts";
import { earlierVotes } from "#src/domain/approval-transitions.ts";
import type { Approval } from "#src/domain/approval.ts";
import { isFinal } from "#src/domain/delivery-state.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import { isSameJson } from "#src/domain/json.ts";
import { isWatched, runId } from "#src/domain/run.ts";
import { cardSlot, OPENING, type Slot, STOPPED } from "#src/domain/slot.ts";
import type { Store } from "#src/ports/store.ts";
import type { Sent, Start, Submit } from "./records.ts";
import type { Item, ServiceRun } from "./service.ts";
import { buttonsOf, type Receipt } from "./slack.ts";
import { CHANNELS } from "./cast.ts";
import type { SimulatedWorld } from "./world.ts";

/** A stretch of time without faults (ms), longer than the slowest poll; and how many of them may pass until nothing is left to do. */
const STRETCH_MS = 6_000;
const STRETCHES = 100;
/**
 * The number of quiet stretches in a row before the world is judged. A process whose lease has lapsed cannot store what it receives, and
 * may look idle. It renews the lease within 15 s, and polls again within 5 s.
 */
const QUIET_STRETCHES = 4;

/** Waits until nothing is left to do and the newest answers of the service have been processed, then judges. */
export async function comeToRest(world: SimulatedWorld): Promise<void> {
  const store = world.database.sharedBy("judge", () => world.timeline.now);
  let quiet = 0;
  for (let stretch = 0; stretch < STRETCHES; stretch += 1) {
    await world.pass(STRETCH_MS);
    quiet = (await isQuiet(world, store)) ? quiet + 1 : 0;
    if (quiet === QUIET_STRETCHES) return judgeAtRest(world, store);
  }
  const left = (await unfinished(world, store)).join("; ");
  world.judge.must("quiet", false, `work is left although there are no more faults: ${left}`);
  await world.pass(0);
}

async function isQuiet(world: SimulatedWorld, store: Store): Promise<boolean> {
  if (world.ready.length < world.replicas) return false;
  const healedAt = world.healedAt ?? 0;
  const followed = world.slack.messages.filter(
    ({ run, slot }) => slot === OPENING && isWatched(run) && (run.seen?.ended ?? null) === null,
  );
  const ids = followed.flatMap(({ run }) => runId(run) ?? []);
  if (ids.some((id) => (world.judge.answeredAt.get(id) ?? 0) <= healedAt)) return false;
  return (await unfinished(world, store)).length === 0;
}

async function unfinished({ timeline, ready, replicas }: SimulatedWorld, store: Store): Promise<string[]> {
  const runs = await timeline.during(() => store.list({ channels: CHANNELS, only: "all", limit: 100 }));
  const [only] = ready;
  const now = replicas === 1 && only !== undefined ? only.clock.monotonic() : timeline.now;
  return runs.flatMap((run) => {
    const { effects, wakeAt, fetchAt } = reconcile(run, now);
    const wakes = wakeAt !== null && wakeAt < now + 60_000;
    const fetches = fetchAt !== null;
    const what = JSON.stringify({ key: run.key, effects, wakeAt, fetchAt, now });
    return effects.length > 0 || wakes || fetches ? [what] : [];
  });
}

async function judgeAtRest(world: SimulatedWorld, store: Store): Promise<void> {
  for (const start of world.records.starts) startIsShown(world, start);
  oneMessageEach(world);
  for (const run of world.service.runs.values())
    for (const item of run.items.values()) itemIsShown(world, run, item);
  for (const submit of world.records.submits) submitIsShown(world, submit);
  await eachHasItsEntry(world, store);
  await receiptsArrive(world);
  noticesArrive(world);
  await world.pass(0);
}

/** I2: a start ends as a run, a clear refusal or a visible "may have started". I7: no message claims what is not true. */
function startIsShown({ judge, service, slack, records }: SimulatedWorld, start: Start): void {
  const all = service.created.filter(({ input }) => input === start.input);
  const asked = 1 + (records.restarts.get(start.input) ?? 0);
  judge.must("I1", all.length <= asked, `"${start.input}" started ${all.length} runs`);
  if (start.told !== "ok" || start.key === null) return;
  const made = all.filter(({ key }) => key === start.key);
  judge.must("I1", made.length <= 1, `one intention started ${made.length} runs`);
  const [opening] = slack.of(start.key, OPENING);
  judge.must("I2", opening !== undefined, `no message is about "${start.input}"`);
  const claim = opening?.run.creation;
  if (claim?.type === "created")
    judge.must("I7", made[0]?.run === claim.id, `"${start.input}" is said to run as ${claim.id}`);
  if (claim?.type === "refused")
    judge.must("I7", made.length === 0, `"${start.input}" is said to be refused`);
  const settled = claim !== undefined && claim.type !== "planned" && claim.type !== "sending";
  judge.must("I2", settled, `"${start.input}" is still ${claim?.type} at rest`);
}

function oneMessageEach({ judge, slack }: SimulatedWorld): void {
  const places = slack.messages.map(({ channel, key, slot }) => `${channel} ${key} ${slot}`);
  const twice = places.find((place, index) => places.indexOf(place) !== index);
  judge.must("I3", twice === undefined, `"${twice}" is up twice at rest`);
}

/** Returns the messages of one approval of the service. */
function cardsOf({ slack }: SimulatedWorld, { id: run }: ServiceRun, { id }: Item) {
  return slack
    .cards()
    .filter(({ message, approval }) => approval.serviceId === id && runId(message.run) === run);
}

/** I3: a pending approval has exactly one message with live buttons, for its current request; a resolved one has none. */
function itemIsShown(world: SimulatedWorld, run: ServiceRun, item: Item): void {
  const { judge } = world;
  const cards = cardsOf(world, run, item);
  const live = cards.filter(({ message }) => buttonsOf(message).decides);
  const followed = world.slack.messages.some((each) => runId(each.run) === run.id && isWatched(each.run));
  const waits = item.listed && item.resolved === null && !run.ended;
  if (!waits)
    return judge.must("I3", live.length === 0, `${item.id} of ${run.id} is over and has live buttons`);
  if (!followed) return;
  const over = cards.some(({ approval }) => isOver(approval)) || endedUnseen(world, run, item);
  judge.must(
    "I3",
    live.length === 1 || (over && live.length === 0),
    `${item.id} of ${run.id} waits and has ${live.length} messages with live buttons: ${cards.map(({ approval }) => JSON.stringify(approval.state)).join()}`,
  );
  const [shown] = live;
  if (shown === undefined) return world.reached("an approval waits that cannot be decided here any more");
  judge.must(
    "I7",
    isSameJson(shown.approval.request.content, item.content),
    `the card of ${item.id} shows what was asked before`,
  );
}

/** Returns whether the approval was over before its card was certainly posted, so that it gets none: a stop's denials are in its message. */
function endedUnseen({ slack }: SimulatedWorld, run: ServiceRun, item: Item): boolean {
  const newest = slack.messages.filter((each) => runId(each.run) === run.id).at(-1)?.run;
  const approval = newest?.approvals.find(({ serviceId }) => serviceId === item.id);
  if (newest === undefined || approval === undefined) return false;
  const isUp = (slot: Slot): boolean => newest.posts[slot]?.type === "up";
  if (isUp(cardSlot(approval.id))) return false;
  const { state } = approval;
  if (state.type === "closed") return state.cause === "expired";
  const isDeniedByStop = state.type === "decided" && state.decision.stoppedBy !== undefined;
  return isUp(STOPPED) && isDeniedByStop && isFinal(state.delivery);
}

/** Returns whether nothing more is sent for it although the service still lists it: it expired, or its decision was never confirmed. */
function isOver({ state, past }: Approval): boolean {
  if (state.type === "closed") return state.cause === "expired";
  if (state.type === "decided") return isFinal(state.delivery);
  return past.length > 0 && past.every(({ decision }) => decision.by === null);
}

/** I6: a card shows how a recorded decision ended. I7: what it shows is true. */
function submitIsShown(world: SimulatedWorld, submit: Submit): void {
  const { judge, service, slack } = world;
  const { run, approval, reason, by, told } = submit;
  if (told === "refused") return;
  const took = service.resolved.filter(
    (each) => each.run === run && each.approval === approval && each.reason.split("\n\n").includes(reason),
  );
  judge.must("I4", took.length <= 1, `"${reason}" took effect twice`);
  const places = slack.cards().flatMap(({ message, approval: shown }) => {
    if (runId(message.run) !== run || shown.serviceId !== approval) return [];
    return placesOf(shown, submit);
  });
  if (told === "ok")
    judge.must("I6", places.length === 1, `"${reason}" of ${by} is shown ${places.length} times`);
  const [place] = places;
  const words = `"${reason}" of ${by} is ${place}`;
  if (place === "past" || place === "votes" || place === "refused" || place === "elsewhere")
    judge.must("I7", took.length === 0, `${words}, and took effect`);
  // Other people may have decided the same; then the service says so.
  const same = service.runs.get(run)?.items.get(approval)?.resolved?.verdict === submit.verdict;
  if (place === "confirmed") judge.must("I7", took.length === 1 || same, `${words}, and took no effect`);
  const open = ["recorded", "sending", "retry", "unsure", "held"].includes(place ?? "");
  judge.must("I6", !open, `${words} at rest`);
  if (place !== undefined) world.reached(`a decision ends as ${place}`);
}

function placesOf({ state, votes, past }: Approval, { by, reason }: Submit): readonly string[] {
  const isIt = (each: { readonly by: { readonly user: string } | null; readonly reason: string }): boolean =>
    each.reason === reason && each.by?.user === by;
  const now =
    state.type === "decided" && [...earlierVotes(state.decision), state.decision].some(isIt)
      ? [state.delivery.type]
      : [];
  const waits = votes.some(isIt) ? ["votes"] : [];
  return [...now, ...waits, ...past.filter(({ decision }) => isIt(decision)).map(() => "past")];
}

/** How long a new process may take until it has sent every receipt (ms). Calls no longer fail. */
const RECEIPTS_MS = 60_000;

/**
 * I6: each recorded decision and vote has its receipt, and no one gets a receipt for what they did not decide. The receipts of one person
 * share a message for a quarter of an hour, of which a new process knows nothing, so all processes are restarted. "settled" is an undo.
 */
async function receiptsArrive(world: SimulatedWorld): Promise<void> {
  const { judge, records, slack, timeline } = world;
  const isOf = ({ by, reason }: Submit, { to, of }: Receipt): boolean => to === by && of.reason === reason;
  const missing = (): Submit | undefined =>
    records.submits.find(
      (submit) =>
        submit.told === "ok" &&
        !slack.receipts.some((each) => each.of.what !== "settled" && isOf(submit, each)),
    );
  if (missing() !== undefined) {
    for (const each of world.processes) each.restart("receipts wait");
    const until = timeline.now + RECEIPTS_MS;
    const areDone = (): boolean => missing() === undefined && world.ready.length === world.replicas;
    while (!areDone() && timeline.now < until) await world.pass(1_000);
  }
  const late = missing();
  judge.must("I6", late === undefined, `${late?.by} gets no receipt for "${late?.reason}"`);
  const forged = slack.receipts.find((each) => !records.submits.some((submit) => isOf(submit, each)));
  judge.must("I6", forged === undefined, `${forged?.to} gets a receipt for "${forged?.of.reason}" of no one`);
}

/** A private notice about a decision that was called for arrives. "Others are needed" is taken back when the approval no longer counts. */
function noticesArrive({ judge, slack }: SimulatedWorld): void {
  for (const [notice, arrived] of slack.notices)
    judge.must("I6", arrived || notice.includes('"others-needed"'), `the notice ${notice} is lost`);
}

const TOLD_OF = ["decided", "voted", "refused"] as const;

/** I8 and I10: each decision has one entry, however often its form was submitted. */
async function eachHasItsEntry(world: SimulatedWorld, store: Store): Promise<void> {
  const { judge, records } = world;
  const entries = await world.timeline.during(() => store.auditAfter(0, TOLD_OF, 1_000));
  for (const { reason, by, told } of records.submits) {
    const isIts = ({ entry }: KeptEntry): boolean => entry.reason === reason && entry.by?.user === by;
    const taken = entries.filter((each) => isIts(each) && each.entry.what !== "refused");
    const most = told === "refused" ? 0 : 1;
    const least = told === "ok" ? 1 : 0;
    judge.must(
      "I8",
      taken.length >= least && taken.length <= most,
      `"${reason}" of ${by} (${told}) has ${taken.length} entries in the audit`,
    );
  }
  for (const sent of records.sent) denialHasItsEntry(world, sent, entries);
}

/**
 * I8: a denial that no person gave, because of a stop or an expiry, has an entry once the service has confirmed it. A request that is
 * listed again after its denial became void is denied again, with an entry of its own.
 */
function denialHasItsEntry(
  { judge, records }: SimulatedWorld,
  sent: Sent,
  entries: readonly KeptEntry[],
): void {
  const { run, approval, reason, verdict, answer } = sent;
  const isTyped = records.submits.some((each) => each.run === run && each.reason === reason);
  if (verdict === "approve" || isTyped || answer?.type !== "confirmed") return;
  // Our own id may have a number behind the id of the service.
  const hasEntry = entries.some(
    ({ entry }) =>
      entry.what === "decided" &&
      entry.by === null &&
      entry.runId === run &&
      entry.approval?.startsWith(approval) === true &&
      entry.reason === reason,
  );
  judge.must("I8", hasEntry, `the denial of ${approval} of ${run} ("${reason}") has no entry in the audit`);
}

/** Checks that every entry is chained and signed. This is slow, so not every history does it. */
export async function auditIsWhole(world: SimulatedWorld): Promise<void> {
  const store = world.database.sharedBy("judge", () => world.timeline.now);
  const finding = await world.timeline.during(() => store.walkAudit());
  world.judge.must("I8", finding === null, `the audit is not whole: ${finding?.words}`);
  await world.pass(0);
}
