// What must hold in every history, judged by what people and the service saw. docs/reliability.md lists the invariants I1 to I10.

import type { Approval, Decision } from "#src/domain/approval.ts";
import { earlierVotes } from "#src/domain/approval-transitions.ts";
import { type RunId, shardOf } from "#src/domain/ids.ts";
import { isSameJson, type Json } from "#src/domain/json.ts";
import { type Run, runId } from "#src/domain/run.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import { cardSlot, type Slot } from "#src/domain/slot.ts";
import type { Snapshot } from "#src/domain/snapshot.ts";
import { STOP_REASON } from "#src/domain/brake.ts";
import { PortError } from "#src/ports.ts";
import type { Brake, Sent, SentCreate, Submit } from "./records.ts";
import type { JudgeListener, Host, Setting } from "./setting.ts";

export class BrokenInvariant extends Error {
  override readonly name = "BrokenInvariant";
}

/** A request as it was received. `since`: when its content was first received (ms). `before`: the content until then. */
type Received = {
  readonly askedAt: number;
  readonly content: Json;
  readonly since: number;
  readonly before: Json;
};

/** The greatest age of a look-up of people when a decision leaves (ms). */
const LOOK_UP_AGE_MS = 5_000;
/** The longest time from the last check to the call, apart from a suspension (ms). */
const RESUMED_MS = 5_000;
/** The longest time that a slow database takes to mark a decision (ms): for a read and a write of its run. */
const MARK_MS = 2_000;
/** The longest lease (ms). A suspended process may still act for this long. */
const LEASE_MS = 60_000;

export class Judge implements JudgeListener {
  /** The first broken invariant. */
  broken: BrokenInvariant | null = null;
  /** When a process last received an answer about the run that it could store. */
  readonly answeredAt = new Map<RunId, number>();
  readonly #world: Setting;
  /** For each process, the content of each request in the answer to its newest question that was answered. */
  readonly #newestContents = new WeakMap<object, Map<string, Received>>();

  constructor(world: Setting) {
    this.#world = world;
  }

  must(invariant: string, holds: boolean, words: string): void {
    if (holds || this.broken !== null) return;
    this.#world.note(`BROKEN ${invariant}: ${words}`);
    this.broken = new BrokenInvariant(`${invariant}: ${words}`);
  }

  receivesSnapshot(by: Host, { id, pending, askedAt }: Snapshot): void {
    if (this.#mayStore(by, id)) this.answeredAt.set(id, this.#world.timeline.now);
    const contents = this.#newestContents.get(by) ?? new Map<string, Received>();
    this.#newestContents.set(by, contents);
    for (const { id: approval, content } of pending ?? []) {
      const key = `${id} ${approval}`;
      // A slow answer may come after the answer to a later question.
      const before = contents.get(key);
      if (askedAt < (before?.askedAt ?? 0)) continue;
      const changed = { since: this.#world.timeline.now, before: before?.content ?? null };
      const isSame = before !== undefined && isSameJson(before.content, content);
      contents.set(key, { ...(isSame ? before : changed), askedAt, content });
    }
  }

  #mayStore({ bot }: Host, id: RunId): boolean {
    const run = this.#world.slack.messages.find((message) => runId(message.run) === id)?.run;
    return run === undefined || bot?.holdsShard(shardOf(run)) === true;
  }

  /** I1: a task leaves once for each time that a person asked for it, unless the service certainly did not take it. */
  creates(creation: SentCreate): void {
    const before = this.#world.records.creations.filter(
      ({ key, disproved }) => key === creation.key && !disproved,
    );
    this.must("I1", before.length === 0, `"${creation.input}" left twice`);
    if (this.#world.records.creations.some(({ key }) => key === creation.key))
      this.#world.reached("a start is tried again");
    this.#world.records.creations.push(creation);
  }

  sends(sent: Sent): void {
    this.#oneContent(sent);
    this.#authorised(sent);
    this.#upToDate(sent);
    this.#notBraked(sent);
    this.#world.records.sent.push(sent);
  }

  answered(sent: Sent): void {
    const earlier = this.#earlier(sent).filter((each) => each !== sent);
    if (sent.answer?.type === "refused" && earlier.length > 0)
      this.#world.reached("a decision is refused after it was sent before");
    if (sent.answer?.type === "confirmed" && earlier.length > 0)
      this.#world.reached("a decision is confirmed at the second try");
    if (sent.answer?.type === "elsewhere") this.#world.reached("a decision was taken elsewhere");
  }

  recorded(submit: Submit): void {
    const { run, approval } = submit;
    const item = this.#world.service.runs.get(run)?.items.get(approval);
    if (item?.resolved !== null) this.#world.reached("a decision is recorded on what is resolved already");
  }

  /** I7, at the moment when people see it: a card says "confirmed" only if the service has said so. */
  shows(run: Run, slot: Slot): void {
    const approval = run.approvals.find(({ id }) => cardSlot(id) === slot);
    if (approval?.state.type !== "decided") return;
    const { decision, delivery } = approval.state;
    this.must("I7", this.#isGiven(approval, run, decision), `a card shows a decision that no one made`);
    if (delivery.type !== "confirmed") return;
    const said = this.#world.records.sent.some(
      (each) =>
        each.run === runId(run) &&
        each.approval === approval.serviceId &&
        each.verdict === decision.verdict &&
        each.answer?.type === "confirmed",
    );
    this.must("I7", said, `the card of ${approval.id} says confirmed, and the service never did`);
  }

  tampered(findings: number): void {
    this.must("quiet", findings === 0, "the bot reports its own database as tampered with");
  }

  /** Only errors of ports are expected. */
  logged(error: Error | null): void {
    if (error === null || error instanceof PortError) return;
    this.must("crash", false, `a fault in Countersign: ${error.stack ?? error.message}`);
  }

  /** I4: a second content leaves only if the first was certainly not applied. */
  #oneContent(sent: Sent): void {
    const { approval, verdict, reason, at } = sent;
    for (const each of this.#earlier(sent)) {
      const same = each.verdict === verdict && each.reason === reason;
      const disproved = each.answer?.type === "later" || each.answer?.type === "refused";
      this.must(
        "I4",
        same || disproved,
        `a second decision on ${approval} left, although the first may have been applied`,
      );
      const early = !disproved && each.arrivesBy > at && !this.#mayShorten();
      this.must("I4", !early, `${approval}: a decision left again while the first could still arrive`);
      if (same && !disproved) this.#world.reached("a decision is sent again after a lost answer");
      if (same && each.from !== sent.from) this.#world.reached("another process sends a decision again");
      if (!same) this.#world.reached("another decision follows a refused one");
    }
  }

  #earlier({ run, approval, asked }: Sent): readonly Sent[] {
    return this.#world.records.sent.filter(
      (each) =>
        each.run === run && each.approval === approval && isSameJson(each.asked ?? null, asked ?? null),
    );
  }

  /** I5: enough different people who may decide have submitted exactly this decision, or the policy or a stop denies. */
  #authorised(sent: Sent): void {
    const { run, approval, verdict, reason, asked = null, at } = sent;
    const { slack } = this.#world;
    const given = reason.split("\n\n");
    const by = this.#world.records.submits.filter(
      (each) =>
        each.run === run &&
        each.approval === approval &&
        each.verdict === verdict &&
        given.includes(each.reason) &&
        isSameJson(each.saw, asked),
    );
    if (by.length === 0) return this.#denied(sent);
    const users = new Set(by.map((each) => each.by));
    this.must(
      "I5",
      by.length === given.length,
      `${approval} leaves with a reason that no one typed: ${reason}`,
    );
    this.must("I5", users.size === by.length, `one person's words count twice for ${approval}`);
    const rules = this.#rulesFor(sent, by);
    const enough = rules.every((each) => users.size >= Math.min(...each.map(({ needs }) => needs)));
    this.must("I5", verdict === "deny" || enough, `${approval} leaves, but too few people approved it`);
    for (const each of by) {
      this.must("I5", each.told !== "refused", `${approval} leaves though ${each.by} was refused`);
      const undone = each.undoneAt !== null && each.undoneAt < at && !wasSuspended(sent);
      this.must("I5", !undone, `${approval} leaves though ${each.by} took it back`);
      const gone = verdict === "approve" ? (slack.gone.get(each.by) ?? null) : null;
      const old = gone !== null && gone < at - LOOK_UP_AGE_MS && !wasSuspended(sent);
      this.must("I5", !old, `${approval} leaves though ${each.by} may no longer decide`);
    }
    const holdMs = Math.min(...(rules[0] ?? []).map((each) => each.holdMs));
    const held = at >= Math.max(...by.map((each) => each.at)) + (verdict === "approve" ? holdMs : 0);
    this.must("I5", held || this.#mayShorten(), `${approval} leaves before its hold is over`);
  }

  /** Returns the rules that may have applied when the last person submitted, and those that may have applied when the decision left. */
  #rulesFor(sent: Sent, by: readonly Submit[]): readonly (readonly Rule[])[] {
    const markMs = wasSuspended(sent) ? LEASE_MS : MARK_MS;
    const [from, to] = [by.map((each) => each.at), by.map((each) => each.until)].map((times) =>
      Math.max(...times),
    );
    return [this.#world.rulesWithin(from ?? 0, to ?? 0), this.#world.rulesWithin(sent.at - markMs, sent.at)];
  }

  /**
   * A single process continues its monotonic time at a start by the wall clock. If the wall clock was set forward meanwhile, waits end
   * early. We accept this risk, because a starting process has no other source of time.
   */
  #mayShorten(): boolean {
    return this.#world.replicas === 1 && this.#world.steps > 0;
  }

  #denied({ run, approval, verdict, reason, at }: Sent): void {
    const { records, slack, service } = this.#world;
    // A run may be stopped and denied before any message shows its id.
    const keys: readonly string[] = [
      ...slack.messages.filter((each) => runId(each.run) === run).map(({ key }) => key),
      ...service.created.filter((each) => each.run === run).map(({ key }) => key),
    ];
    const stopped = reason === STOP_REASON && [...records.stopped].some((key) => keys.includes(key));
    const expired = this.#world.rulesWithin(0, at).some(({ expiry }) => expiry?.outcome === "deny");
    const allowed = verdict === "deny" && (stopped || expired);
    this.must("I5", allowed, `${verdict} on ${approval} leaves, but no one decided that: "${reason}"`);
  }

  /**
   * I5: a decision leaves only for the request as this process last received it. An answer that arrives while the decision is being marked
   * waits for the mark.
   */
  #upToDate({ from, run, approval, asked = null, verdict, at }: Sent): void {
    const newest = this.#newestContents.get(from)?.get(`${run} ${approval}`);
    if (newest === undefined)
      return this.must("I5", false, `${approval} leaves, but this process never received its request`);
    const { since, until } = from.storing;
    const waits = until === at && newest.since > since && isSameJson(newest.before, asked);
    if (waits) this.#world.reached("a request changes while a decision on it is being marked");
    this.must(
      "I5",
      isSameJson(newest.content, asked) || waits,
      `${verdict} on ${approval} leaves for another request`,
    );
  }

  /** I5: no approval leaves once the person who pressed a brake was told that it holds. */
  #notBraked(sent: Sent): void {
    const { run, verdict, at } = sent;
    if (verdict !== "approve") return;
    const message = this.#world.slack.messages.find((each) => runId(each.run) === run);
    const braked = [message?.key, message?.run.channel].flatMap((of): Brake[] => {
      const brake = of === undefined ? null : this.#world.records.brakeOn(of);
      return brake === null ? [] : [brake];
    });
    const graceMs = wasSuspended(sent) ? LEASE_MS : 0;
    for (const { of, from: since } of braked)
      this.must("I5", at <= since + graceMs, `an approval leaves ${at - since} ms after ${of} was braked`);
  }

  #isGiven({ serviceId }: Approval, run: Run, decision: Decision): boolean {
    const { records } = this.#world;
    return [...earlierVotes(decision), decision].every(({ by, reason, verdict }) => {
      if (by === null) return verdict === "deny";
      return records.submits.some(
        (each) =>
          each.key === run.key &&
          each.approval === serviceId &&
          each.by === by.user &&
          each.reason === reason &&
          each.verdict === verdict,
      );
    });
  }
}

/** The process may have been suspended between its last check and its call. */
const wasSuspended = ({ from, at }: Sent): boolean => at < from.stalledUntil + RESUMED_MS;
