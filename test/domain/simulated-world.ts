// A whole world in one value: a service, a Slack, a store that holds one run, and our own side. Our side carries effects out in separate
// steps (as engine/effect-executor.ts does), so that anything may happen between any two of them. Not simulated: a chat.update that arrives
// after a newer one (an accepted risk, corrected by the next change).
import { applyOutcome, markSending, recover } from "#src/domain/apply-outcome.ts";
import { type Approval, isSettled } from "#src/domain/approval.ts";
import type { Context } from "#src/domain/context.ts";
import { expire } from "#src/domain/decide.ts";
import { type Effect, effectKey, type Outcome } from "#src/domain/effect.ts";
import { type ApprovalId, Nonce, RunId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { observeMissing } from "#src/domain/end-run.ts";
import { isOutdated, observe } from "#src/domain/observe.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { type Plan, reconcile } from "#src/domain/reconcile.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { DECISION_LINGER_MS } from "#src/domain/snapshot.ts";
import { applyFollowUp } from "#src/domain/follow-up-due.ts";
import { findApproval, isWatched, type Run } from "#src/domain/run.ts";
import { aPolicy } from "../make/policy.ts";
import { aRun, NOON } from "../make/run.ts";
import {
  type Carried,
  type Fate,
  isIdempotent,
  LOOK_BEFORE,
  type LookFate,
  type Sent,
  UNTOUCHED,
  type WorldOptions,
} from "./fates.ts";
import { Learnt } from "./learnt.ts";
import { SimulatedBrakes } from "./simulated-brakes.ts";
import { SimulatedPeople } from "./simulated-people.ts";
import { type Answer, type Look, SimulatedService } from "./simulated-service.ts";
import { lookedUp } from "./simulated-look-ups.ts";
import { drawn, SimulatedSlack } from "./simulated-slack.ts";

export class SimulatedWorld {
  now = NOON;
  run: Run = aRun({ answer: { url: "https://hooks.slack.com/x", until: NOON + 1_500_000 } });
  readonly service = new SimulatedService();
  readonly slack = new SimulatedSlack();
  readonly carried = new Map<string, Carried>();
  readonly sent: Sent[] = [];
  readonly people = new SimulatedPeople(this);
  readonly learnt = new Learnt();
  /** How many people can approve, according to Slack. Null if Slack does not say. */
  able: number | null = 20;
  readonly brakes = new SimulatedBrakes(this);
  readonly #options: WorldOptions;
  readonly #onSave: ((before: Run, after: Run) => void)[] = [];
  #slowLook: Look | null = null;
  #arrivals: { readonly at: number; readonly happens: () => void }[] = [];
  #nonces = 0;
  #lives = 0;
  #planned: { readonly run: Run; readonly now: number; readonly plan: Plan } | null = null;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#pump();
  }

  onSave(hears: (before: Run, after: Run) => void): void {
    this.#onSave.push(hears);
  }

  /** The digest is the text itself, so two texts never share one. */
  get ctx(): Context {
    const { rule } = this.#options;
    const policy = rule === undefined ? BUILT_IN : aPolicy(rule);
    const times = {
      now: this.now,
      monotonic: this.now,
      slowestRetryMs: 15_000,
      process: `life ${this.#lives}`,
    };
    return {
      ...times,
      digest: (text) => text,
      nonce: () => this.#nonce(),
      policy,
      freezes: this.brakes.freezes,
    };
  }

  /** Kept until the run or the time changes, because several laws ask for it after each change. */
  get plan(): Plan {
    const { run, now } = this;
    if (this.#planned?.run !== run || this.#planned.now !== now)
      this.#planned = { run, now, plan: reconcile(run, now) };
    return this.#planned.plan;
  }

  /** Advances one effect by one step: look (decisions only), mark, perform, settle. */
  carry(pick: number, fate: Fate): Carried | null {
    const [key, carried] = [...this.carried][pick % Math.max(this.carried.size, 1)] ?? [];
    if (key === undefined || carried === undefined) return null;
    switch (carried.stage) {
      case "waiting":
        if (carried.effect.type === "send-decision")
          this.#lookBefore(key, carried, carried.effect.approval, fate);
        else this.#mark(key, carried);
        break;
      case "looked":
        this.#mark(key, carried);
        break;
      case "marked":
        carried.outcome = this.#perform(carried, fate);
        carried.stage = "answered";
        break;
      case "answered":
        this.#settle(key, carried);
    }
    return carried;
  }

  carryToEnd(fate: Fate): void {
    const [first] = this.carried.values();
    if (first === undefined) return;
    const stages = first.effect.type === "send-decision" ? 4 : 3;
    for (let stage = 0; stage < stages && this.#holds(first); stage += 1)
      this.carry(0, first.stage === "marked" ? fate : "done");
  }

  /** An effect leaves, and the process dies before its answer is stored. */
  carryAndDie(pick: number, fate: Fate): void {
    const carried = [...this.carried.values()][pick % Math.max(this.carried.size, 1)];
    if (carried === undefined) return;
    while (carried.stage !== "answered" && this.#holds(carried))
      this.carry([...this.carried.values()].indexOf(carried), carried.stage === "marked" ? fate : "done");
    this.crash();
  }

  fetchRun(fate: LookFate): void {
    if (!isWatched(this.run) || fate === "lost") return;
    this.takeIn(this.#read(fate));
  }

  /** Starts a look that is answered when `slowLook` is called again. */
  slowLook(): void {
    const answer = this.#slowLook;
    this.#slowLook = answer === null && isWatched(this.run) ? this.#read("fresh") : null;
    if (answer !== null) this.takeIn(answer);
  }

  takeIn(fetched: Look): void {
    const { run, ctx } = this;
    const missing = fetched.type === "missing";
    const askedAt = missing ? fetched.askedAt : fetched.snapshot.askedAt;
    if (isWatched(run) && !isOutdated(run, askedAt)) this.learnt.note(fetched, ctx);
    this.keep(missing ? observeMissing(run, askedAt, ctx) : observe(run, fetched.snapshot, ctx));
  }

  /** The process dies. Effects under way are forgotten, but requests that have left still arrive. Another process takes over the run. */
  crash(): void {
    // An update is not marked, so it is unknown afterwards whether it took effect. The next change of the message corrects it.
    for (const { effect, stage } of this.carried.values())
      if (effect.type === "update" && stage === "answered") this.slack.torn.add(effect.slot);
    this.carried.clear();
    this.#slowLook = null;
    this.learnt.taken.length = 0;
    this.#lives += 1;
    this.keep(recover(this.run, this.ctx));
  }

  wait(ms: number): void {
    const until = this.now + ms;
    const due = this.#arrivals.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
    this.#arrivals = this.#arrivals.filter(({ at }) => at > until);
    for (const { at, happens } of due) {
      this.now = Math.max(this.now, at);
      happens();
    }
    this.now = until;
    this.keep(expire(this.run, this.ctx));
  }

  /** No more faults. Runs until nothing is left to do, or nothing within `patience` (ms). Throws if the world never comes to rest. */
  drain(patience = Number.POSITIVE_INFINITY): void {
    this.slack.closed = false;
    this.service.known = true;
    this.people.silent = false;
    this.able = 20;
    this.brakes.unfreeze();
    for (let step = 0; step < 2_000; step += 1) {
      if (this.carried.size > 0) {
        this.carry(0, "done");
        continue;
      }
      const before = this.run;
      this.fetchRun("fresh");
      if (this.run !== before || this.carried.size > 0) continue;
      const next = this.#nextTime();
      if (next === null || next - this.now > patience) return;
      this.wait(Math.max(next - this.now, 0));
    }
    throw new Error("a world without faults never comes to rest");
  }

  #nextTime(): number | null {
    const { wakeAt, fetchAt } = this.plan;
    const times = [wakeAt, fetchAt, ...this.#arrivals.map(({ at }) => at)].filter((time) => time !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  readonly #serviceId = (id: ApprovalId): ApprovalId => findApproval(this.run, id)?.serviceId ?? id;

  /**
   * The service asks for an approval. It reuses an id only when no decision for that id can still arrive, whether it was sent or is about
   * to be sent after its check: the interface lets a POST carry no condition. Nor does it reuse an id for the very content whose decision
   * is still unsettled: our side could not tell the two requests apart. If reads lag behind for longer than we wait, an old one may still
   * make a decision leave again that has taken effect, so an id is not reused before its decision is settled.
   */
  raise(id: ApprovalId, content: Json): void {
    const { run, service, sent, carried, now } = this;
    const leaving = [...carried.values()].some(
      ({ effect, stage }) =>
        effect.type === "send-decision" &&
        this.#serviceId(effect.approval) === id &&
        (stage === "looked" || stage === "marked"),
    );
    const late = sent.some((each) => this.#serviceId(each.approval) === id && each.arrivesBy > now);
    const lagsLong = this.#options.lagMs >= DECISION_LINGER_MS;
    const isAlike = ({ request }: Approval): boolean =>
      JSON.stringify(request.content) === JSON.stringify(content);
    const unsettled = run.approvals.some(
      (each) => each.serviceId === id && !isSettled(each) && (lagsLong || isAlike(each)),
    );
    if (!service.isUsed(id) || !(leaving || late || unsettled)) service.raise(id, content, now);
  }

  #nonce(): Nonce {
    this.#nonces += 1;
    return Nonce(`nonce-${String(this.#nonces).padStart(12, "0")}`);
  }

  #read(fate: Answer): Look {
    return this.service.answer(fate, this.now, this.#options.lagMs);
  }

  readonly #holds = (carried: Carried): boolean => [...this.carried.values()].includes(carried);
  /** Stores the run in one transaction. */
  keep(changed: Run): void {
    const before = this.run;
    const next = (this.run = applyFollowUp(this.brakes.apply(changed), this.ctx));
    if (before !== next) for (const hears of this.#onSave) hears(before, next);
    this.#pump();
  }

  #pump(): void {
    for (const effect of this.plan.effects) {
      const key = effectKey(effect);
      if (!this.carried.has(key)) this.carried.set(key, { effect, ...UNTOUCHED });
    }
  }

  #lookBefore(key: string, carried: Carried, approval: ApprovalId, fate: Fate): void {
    const found = LOOK_BEFORE[fate];
    if (found !== "lost") {
      const look = this.service.lookBefore(this.#serviceId(approval), found, this.now, this.#options.lagMs);
      if (isWatched(this.run)) this.takeIn(look);
      carried.stage = "looked";
      return;
    }
    this.carried.delete(key);
    const outcome: Outcome = { type: "later", afterMs: null, why: "the look before failed" };
    this.keep(applyOutcome(this.run, carried.effect, outcome, this.ctx));
  }

  #mark(key: string, carried: Carried): void {
    this.keep(this.run);
    if (!this.plan.effects.some((each) => effectKey(each) === key)) {
      this.carried.delete(key);
      return this.#pump();
    }
    const fallen = this.people.fallen(carried.effect);
    if (fallen !== null) {
      this.carried.delete(key);
      return this.keep(fallen);
    }
    carried.stage = "marked";
    this.brakes.mustNotHold(carried.effect);
    if (carried.effect.type === "send-decision")
      carried.asked = this.learnt.asked.get(this.#serviceId(carried.effect.approval)) ?? null;
    carried.marked = markSending(this.run, carried.effect, this.now);
    this.keep(carried.marked);
  }

  #settle(key: string, carried: Carried): void {
    this.carried.delete(key);
    const { outcome, sent } = carried;
    if (outcome === null) throw new Error("settled before it was answered");
    this.slack.answer(carried.effect, outcome);
    if (sent !== null) sent.disproved = outcome.type === "later" || outcome.type === "refused";
    this.keep(applyOutcome(this.run, carried.effect, outcome, this.ctx));
  }

  #perform(carried: Carried, fate: Fate): Outcome {
    const { effect, marked } = carried;
    if (marked === null) throw new Error("performed before it was marked");
    if (effect.type === "send-decision") carried.sent = this.#leaves(marked, effect.approval, carried.asked);
    const known = lookedUp(marked, effect, fate, this) ?? this.#refusal(effect, fate);
    if (known !== null) return known;
    const act = (): Outcome => this.#act(marked, effect);
    switch (fate) {
      case "lost-before":
        return { type: "unsure", why: "no answer" };
      case "lost-after":
        act();
        return { type: "unsure", why: "no answer" };
      case "late":
        if (isIdempotent(effect)) act();
        else this.#comesLate(carried, act);
        return { type: "unsure", why: "no answer" };
      case "done":
      case "later":
      case "refused":
        return act();
    }
  }

  #comesLate({ sent }: Carried, happens: () => void): void {
    const at = this.now + this.#options.lateMs;
    if (sent !== null) sent.arrivesBy = at;
    this.#arrivals.push({ at, happens });
  }

  #refusal(effect: Effect, fate: Fate): Outcome | null {
    const toSlack = !["create-run", "send-decision", "count-approvers", "find-people"].includes(effect.type);
    const adds = effect.type === "post" || effect.type === "share" || effect.type === "upload";
    const refuses = (toSlack && this.slack.closed) || fate === "refused";
    if (fate === "later" || (refuses && toSlack && !adds && !this.#options.refusesAll))
      return { type: "later", afterMs: 2_000, why: "429" };
    if (refuses && effect.type === "sweep") this.slack.unswept.add(effect.slot);
    return refuses ? { type: "refused", words: "no" } : null;
  }

  #leaves(marked: Run, id: ApprovalId, asked: string | null): Sent {
    const state = findApproval(marked, id)?.state;
    if (state?.type !== "decided") throw new Error("a decision leaves that nobody made");
    const { now: at } = this;
    const { decision } = state;
    const sent = { approval: id, decision, at, asked, disproved: false, arrivesBy: at };
    this.sent.push(sent);
    return sent;
  }

  #act(run: Run, effect: Effect): Outcome {
    const { service, slack } = this;
    switch (effect.type) {
      case "create-run": {
        const id = RunId(`run_${service.created.length + 1}`);
        return { type: "created", snapshot: service.create(id, this.now) };
      }
      case "send-decision": {
        const state = findApproval(run, effect.approval)?.state;
        if (state?.type !== "decided") throw new Error("nothing decided");
        return service.resolve(this.#serviceId(effect.approval), state.decision, this.now);
      }
      case "post": {
        const ts = slack.post(effect.slot, drawn(run, effect.slot));
        return { type: "posted", ts, shows: renderKey(run, effect.slot) ?? "" };
      }
      case "find":
        return { type: "found", copies: slack.copies(effect.slot) };
      case "find-people":
      case "count-approvers":
      case "look-up-precedents":
      case "look-up-requester":
        throw new Error("only looked up");
      case "send-notice":
        slack.told.push(effect.notice);
        return { type: "told" };
      case "update":
      case "sweep":
        return this.#change(run, effect);
      case "upload":
        return { type: "uploaded", file: slack.upload(effect.slot) };
      case "share":
      case "find-file": {
        const upload = run.uploads[effect.slot];
        const file = upload !== undefined && "file" in upload ? upload.file : "";
        if (effect.type === "share") return { type: slack.share(file) };
        return { type: "file-found", there: (slack.files.get(file)?.shared ?? 0) > 0 };
      }
    }
  }

  #change(run: Run, { type: kind, slot }: { type: "update" | "sweep"; slot: string }): Outcome {
    const post = run.posts[slot];
    if (post?.type !== "up") return { type: "later", afterMs: null, why: "not posted yet" };
    if (kind === "update") {
      if (this.slack.update(post.ts, drawn(run, slot)) === "gone") return { type: "gone" };
      return { type: "updated", shows: renderKey(run, slot) ?? "" };
    }
    for (const ts of this.slack.copies(slot)) if (ts !== post.ts) this.slack.remove(ts);
    return { type: "swept" };
  }
}
