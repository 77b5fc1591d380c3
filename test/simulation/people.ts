// People who use Slack. They act on what Slack shows them. Each act goes to one process, which may die meanwhile. What they did and what
// they were told is recorded, and the judge compares it with what reached the service.

import type { Bot } from "#src/bot.ts";
import type { Verdict } from "#src/domain/approval.ts";
import type { ChannelId, RunKey, UserId } from "#src/domain/ids.ts";
import { runId } from "#src/domain/run.ts";
import { OPENING, STOPPED } from "#src/domain/slot.ts";
import { PortError } from "#src/ports.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { TEAM } from "../make/run.ts";
import type { Form, Start, Submit } from "./records.ts";
import type { Host, Setting } from "./setting.ts";
import { approvalOf, type Message } from "./slack.ts";

/** The result of an act, as its person sees it. "lost": the process died, or its store failed, so they were told nothing certain. */
export type ActResult<Value> =
  | { readonly type: "ok"; readonly value: Value }
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "lost" };

type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly error: { readonly type?: string; readonly refusal?: { readonly type: string } };
    };

/** An attempt to lift a brake. `ended` is null while it is under way. */
type Lift = { readonly of: RunKey | ChannelId; ended: number | null };

export class SimulatedPeople {
  readonly #world: Setting;
  /** Attempts to lift a brake. */
  readonly #lifts: Lift[] = [];
  #count = 0;

  constructor(world: Setting) {
    this.#world = world;
  }

  /** With `again`, Slack delivers the same command once more. */
  async start(at: Host, by: UserId, channel: ChannelId, again?: Start): Promise<Start> {
    this.#count += again === undefined ? 1 : 0;
    const start: Start = again ?? {
      input: `task ${this.#count}`,
      intention: `trigger ${this.#count}`,
      by,
      channel,
      key: null,
      told: "lost",
    };
    if (again === undefined) this.#world.records.starts.push(start);
    const { input, intention } = start;
    const told = await this.#act(at, `${by} starts ${input}`, ({ startRun }) =>
      startRun.start({ team: TEAM, user: by, channel }, { input, intention, answerUrl: null }),
    );
    if (told.type === "ok") Object.assign(start, { key: told.value, told: "ok" });
    else if (start.told !== "ok") start.told = told.type;
    return start;
  }

  /** The requester's answer to "a run may have started". */
  async answerUnknownStart(
    at: Host,
    { run, key, channel }: Message,
    again: "started" | "left",
  ): Promise<void> {
    const { requester: user, input } = run;
    const { restarts } = this.#world.records;
    if (again === "started") restarts.set(input, 1);
    const by = { team: TEAM, user, channel };
    const told = await this.#act(at, `${user} answers ${again}`, ({ startRun }) =>
      startRun.answerUnknownStart(by, key, again),
    );
    this.#world.reached(`a start that is not known is answered ${again}: ${told.type}`);
  }

  async open(at: Host, by: UserId, message: Message, verdict: Verdict): Promise<Form | null> {
    const click = this.clickOn(message, by);
    const shown = approvalOf(message);
    if (click === null || shown === null) return null;
    const told = await this.#act(at, `${by} opens ${shown.id} to ${verdict}`, ({ openForm }) =>
      openForm.open(click, verdict),
    );
    if (told.type !== "ok") return null;
    const { run, ticket } = told.value;
    const id = runId(run);
    if (id === null) throw new Error("the form belongs to a run that the service does not know");
    const form: Form = {
      by,
      key: run.key,
      run: id,
      approval: shown.serviceId,
      verdict: ticket.verdict,
      saw: ticket.saw.content,
      nonce: ticket.nonce,
      bundle: null,
    };
    this.#world.records.forms.push(form);
    return form;
  }

  /** `again`: Slack delivers the same submit once more. */
  async submit(at: Host, form: Form, again?: Submit): Promise<Submit> {
    this.#count += 1;
    const reason = again?.reason ?? `reason ${this.#count}.`;
    const { timeline, judge } = this.#world;
    const submit: Submit = again ?? {
      ...form,
      reason,
      at: timeline.now,
      told: "lost",
      asked: 0,
      answers: [],
      until: Infinity,
      why: "",
      undoneAt: null,
    };
    if (again === undefined) this.#world.records.submits.push(submit);
    submit.asked += 1;
    const { by: user, nonce } = form;
    const told = await this.#act(at, `${user} submits ${form.approval} ${form.verdict}`, (bot) =>
      bot.submitDecision({ team: TEAM, user }, nonce, reason),
    );
    submit.answers.push(told.type);
    submit.until = told.type === "lost" ? Infinity : this.#world.timeline.now;
    submit.told = toldOf(submit);
    if (told.type === "refused") {
      submit.why = told.why;
      this.#world.reached(`a submit is refused: ${told.why}`);
    }
    if (told.type === "ok") judge.recorded(submit);
    return submit;
  }

  async undo(at: Host, by: UserId, message: Message): Promise<void> {
    const click = this.clickOn(message, by);
    const shown = approvalOf(message);
    if (click === null || shown === null) return;
    const began = this.#world.timeline.now;
    const told = await this.#act(at, `${by} undoes ${shown.id}`, ({ undoDecision }) =>
      undoDecision.onCard(click),
    );
    this.#world.reached(told.type === "ok" ? "an undo comes in time" : `an undo is ${told.type}`);
    if (told.type !== "ok") return;
    const { value: run } = told;
    const now = run.approvals.find((each) => each.id === shown.id);
    const undone = new Set(
      (now?.past ?? []).filter(({ cause }) => cause === "undone").map(({ decision }) => decision.reason),
    );
    for (const each of this.#world.records.submits)
      if (each.by === by && each.at <= began && undone.has(each.reason))
        each.undoneAt ??= this.#world.timeline.now;
  }

  async stop(at: Host, by: UserId, key: RunKey, channel: ChannelId): Promise<void> {
    this.#world.records.stopped.add(key);
    const [message] = this.#world.slack.of(key, OPENING);
    const press = { team: TEAM, user: by, channel, run: key, shown: message?.run.stop?.at ?? null };
    const began = this.#world.timeline.now;
    const told = await this.#act(at, `${by} stops ${key}`, ({ stopRun }) => stopRun.stop(press));
    if (told.type !== "ok" || this.#world.records.brakeOn(key) !== null) return;
    if (this.#mayBeLifted(key, began)) return;
    this.#world.records.brakes.push({ of: key, from: this.#world.timeline.now, until: null });
    this.#world.reached("a run is stopped");
  }

  async lift(at: Host, by: UserId, key: RunKey, channel: ChannelId): Promise<void> {
    const [message] = this.#world.slack.of(key, STOPPED);
    const press = { team: TEAM, user: by, channel, run: key, shown: message?.run.stop?.at ?? null };
    this.#end(key, this.#world.timeline.now);
    await this.#lifting(key, () =>
      this.#act(at, `${by} lifts the stop of ${key}`, ({ stopRun }) => stopRun.lift(press)),
    );
  }

  async freeze(at: Host, by: UserId, channel: ChannelId): Promise<void> {
    const began = this.#world.timeline.now;
    const told = await this.#act(at, `${by} freezes ${channel}`, ({ freeze }) =>
      freeze.freeze({ team: TEAM, user: by, channel }, channel, "because"),
    );
    if (told.type !== "ok" || this.#mayBeLifted(channel, began)) return;
    this.#world.records.brakes.push({ of: channel, from: this.#world.timeline.now, until: null });
    this.#world.reached("a channel is frozen");
  }

  async unfreeze(at: Host, by: UserId, channel: ChannelId): Promise<boolean> {
    this.#end(channel, this.#world.timeline.now);
    const told = await this.#lifting(channel, () =>
      this.#act(at, `${by} lifts the freeze of ${channel}`, ({ freeze }) =>
        freeze.lift({ team: TEAM, user: by, channel }, null, "because"),
      ),
    );
    return told.type === "ok" || (told.type === "refused" && told.why === "not-frozen");
  }

  /** Does something else, about which the judge has no expectation. */
  async other(at: Host, words: string, act: (bot: Bot) => Promise<Outcome<unknown>>): Promise<void> {
    const told = await this.#act(at, words, act);
    this.#world.reached(`${words.replace(/^\S+ /, "").replace(/ .*/, "")}: ${told.type}`);
  }

  clickOn(message: Message, user: UserId): Click | null {
    const approval = approvalOf(message);
    const { channel, ts } = message;
    return approval === null ? null : { team: TEAM, user, channel, ts, nonce: approval.nonce };
  }

  async #lifting<Told>(of: RunKey | ChannelId, act: () => Promise<Told>): Promise<Told> {
    const lift: Lift = { of, ended: null };
    this.#lifts.push(lift);
    const told = await act();
    lift.ended = this.#world.timeline.now;
    return told;
  }

  /** Returns whether a lift may have taken effect after a brake that began at `began`: they overlap, and either may come last. */
  #mayBeLifted(of: RunKey | ChannelId, began: number): boolean {
    return this.#lifts.some((each) => each.of === of && (each.ended === null || each.ended >= began));
  }

  #end(of: RunKey | ChannelId, at: number): void {
    for (const each of this.#world.records.brakes) if (each.of === of) each.until ??= at;
  }

  async #act<Value>(
    at: Host,
    words: string,
    act: (bot: Bot) => Promise<Outcome<Value>>,
  ): Promise<ActResult<Value>> {
    const { bot } = at;
    if (bot === null || !at.alive || !at.ready) return { type: "lost" };
    this.#world.note(`${words}, at ${at.name}`);
    const told = await Promise.race([
      this.#resultOf(act(bot)),
      at.died.then((): ActResult<Value> => ({ type: "lost" })),
    ]);
    this.#world.note(`${words}: ${told.type === "refused" ? told.why : told.type}`);
    return told;
  }

  async #resultOf<Value>(acting: Promise<Outcome<Value>>): Promise<ActResult<Value>> {
    try {
      const result = await acting;
      if (result.ok) return { type: "ok", value: result.value };
      return { type: "refused", why: result.error.refusal?.type ?? result.error.type ?? "?" };
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      return { type: "lost" };
    }
  }
}

/** Combines the answers to a form that was submitted several times. */
function toldOf({ asked, answers }: Submit): Submit["told"] {
  if (answers.includes("ok")) return "ok";
  return answers.length < asked || answers.includes("lost") ? "lost" : "refused";
}
