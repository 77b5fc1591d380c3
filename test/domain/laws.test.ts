// The four laws, checked over random histories. The fuzzer chooses what happens; ids come from the world itself.

import * as fc from "fast-check";
import { describe, test } from "vitest";
import { ApprovalId, ChannelId } from "#src/domain/ids.ts";
import type { Verdict } from "#src/domain/approval.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import type { Json } from "#src/domain/json.ts";
import { DECISION_LINGER_MS } from "#src/domain/snapshot.ts";
import { POST_LINGER_MS } from "#src/domain/posted-message.ts";
import { MODAL_HOLDS_CHARS } from "#src/domain/text/request-text.ts";
import type { Fate, LookFate, WorldOptions } from "./fates.ts";
import { lawsAtRest, watchLaws } from "./laws.ts";
import { PEOPLE } from "./simulated-people.ts";
import { APPROVER } from "../make/run.ts";
import { SimulatedWorld } from "./simulated-world.ts";

const RUNS = 2_000;
const APPROVALS = [ApprovalId("apr_1"), ApprovalId("apr_2"), ApprovalId("../3?")];
const HUGE = "x".repeat(MODAL_HOLDS_CHARS + 1);
const WAITS = [100, 1_000, 4_000, 6_000, 31_000, 61_000, 5 * 60_000, 25 * 60 * 60_000];
const FATES: Fate[] = ["done", "done", "done", "lost-before", "lost-after", "late", "later", "refused"];
const LOOKS: LookFate[] = ["fresh", "fresh", "stale", "lost", "missing", "untold", "spoiled", "named"];

const fate = fc.constantFrom(...FATES);
const fetched = fc.constantFrom(...LOOKS);
const small = fc.nat(5);

/** One step of a history. `name` identifies it in the report of a failing history. */
type Step = { readonly name: string; readonly act: (world: SimulatedWorld) => unknown };
const step = (name: string, act: Step["act"]): Step & { [fc.toStringMethod](): string } => ({
  name,
  act,
  [fc.toStringMethod]: () => name,
});
/** A step on the service, which can happen only once the run was created there. */
const served = (name: string, act: Step["act"]): Step =>
  step(name, (world) => {
    if (world.service.created.length > 0) act(world);
  });
const approval = fc.constantFrom(...APPROVALS);

function content(version: number): Json {
  return { action: "delete the old certificate", version, ...(version === 5 ? { script: HUGE } : {}) };
}

const carry = fc
  .tuple(small, fate)
  .map(([pick, fate]) => step(`carry ${pick} ${fate}`, (world) => world.carry(pick, fate)));
const carryToEnd = fate.map((fate) => step(`carry to its end, ${fate}`, (world) => world.carryToEnd(fate)));
const looks = fc.oneof(
  fetched.map((fate) => served(`look ${fate}`, (world) => world.fetchRun(fate))),
  fc.constant(served("slow look", (world) => world.slowLook())),
);
const verdict = fc.constantFrom<Verdict>("approve", "approve", "deny");
const submit = fc.tuple(fc.nat(2), verdict, fetched);
const who = fc.nat(PEOPLE.length - 1);
const opens = fc
  .tuple(approval, verdict, who)
  .map(([id, verdict, who]) =>
    step(`open ${id} to ${verdict} by ${who}`, ({ people }) => people.open(id, verdict, who)),
  );
const decides = fc.oneof(
  { weight: 2, arbitrary: opens },
  {
    weight: 2,
    arbitrary: submit.map(([back, verdict, fetched]) =>
      step(`submit ${back} ${verdict}, look ${fetched}`, (world) =>
        world.people.submit(back, verdict, () => world.fetchRun(fetched)),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(approval, who)
      .map(([id, who]) => step(`undo ${id} by ${who}`, ({ people }) => people.undo(id, who))),
  },
);
const raise = fc
  .tuple(approval, small)
  .map(([id, version]) => served(`raise ${id} ${version}`, (world) => world.raise(id, content(version))));
const serves = fc.oneof(
  { weight: 3, arbitrary: raise },
  fc
    .tuple(approval, fc.boolean())
    .map(([id, on]) => served(`list ${id} ${on}`, ({ service, now }) => service.list(id, on, now))),
  approval.map((id) => served(`elsewhere ${id}`, ({ service, now }) => service.resolveElsewhere(id, now))),
  fc
    .constantFrom("running", "queued", "dreaming")
    .map((status) => served(status, ({ service, now }) => service.say(status, now))),
  fc
    .constantFrom(null, "done", HUGE)
    .map((output) => served("end", ({ service, now }) => service.end("succeeded", output, now))),
  fc.boolean().map((known) => step(`known ${known}`, ({ service }) => (service.known = known))),
);
const slack = fc.oneof(
  fc.boolean().map((closed) => step(`closed ${closed}`, ({ slack }) => (slack.closed = closed))),
  small.map((pick) => step(`delete message ${pick}`, (world) => world.slack.deleteOne(pick))),
);
const people = fc.constantFrom(
  ...PEOPLE.map((user) => step(`${user} leaves`, (world) => world.people.gone.add(user))),
  step("all are back", (world) => world.people.gone.clear()),
  ...[true, false].map((silent) =>
    step(`Slack is silent: ${silent}`, ({ people }) => (people.silent = silent)),
  ),
  ...[0, 1, null].map((able) => step(`${able} can approve`, (world) => (world.able = able))),
  step("unwatch", (world) => world.people.unwatch()),
  step("watch again", (world) => world.people.watchAgain()),
);
const brake = fc.constantFrom(
  ...PEOPLE.map((user) => step(`${user} stops the run`, (world) => world.brakes.stop(user))),
  ...PEOPLE.map((user) => step(`${user} lifts the stop`, (world) => world.brakes.lift(user))),
  step("freeze", (world) => world.brakes.freeze()),
  step("lift the freeze", (world) => world.brakes.unfreeze()),
);
const time = fc.constantFrom(...WAITS).map((ms) => step(`wait ${ms}`, (world) => world.wait(ms)));
const crash = fc.oneof(
  fc.constant(step("crash", (world) => world.crash())),
  fc
    .tuple(small, fate)
    .map(([pick, fate]) => step(`carry ${pick} ${fate} and die`, (world) => world.carryAndDie(pick, fate))),
);

const history = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: carry },
    { weight: 6, arbitrary: carryToEnd },
    { weight: 5, arbitrary: looks },
    { weight: 5, arbitrary: decides },
    { weight: 4, arbitrary: serves },
    { weight: 3, arbitrary: time },
    { weight: 2, arbitrary: crash },
    { weight: 1, arbitrary: slack },
    { weight: 1, arbitrary: people },
    { weight: 2, arbitrary: brake },
  ),
  { maxLength: 70, size: "max" },
);

/** The state in which a history begins. Most begin where the interesting part does. */
type Beginning = "nothing" | "cards" | "decided" | "last voice" | "confirmed";
const beginning = fc.constantFrom<Beginning>("nothing", "cards", "decided", "last voice", "confirmed");

/** A wait too short for any time limit to run out. */
const AT_ONCE_MS = 1_000;

function begin(world: SimulatedWorld, from: Beginning): void {
  if (from === "nothing") return;
  world.drain(AT_ONCE_MS);
  for (const id of APPROVALS.slice(0, 2)) world.service.raise(id, content(0), world.now);
  world.drain(AT_ONCE_MS);
  if (from === "cards") return;
  for (const id of APPROVALS.slice(0, 2)) approve(world, id, 0);
  if (from === "confirmed") while (world.carried.size > 0) world.carry(0, "done");
  if (from !== "last voice") return;
  for (const id of APPROVALS.slice(0, 2)) approve(world, id, 1);
}

function approve({ people }: SimulatedWorld, id: ApprovalId, who: number): void {
  people.open(id, "approve", who);
  people.submit(0, "approve", () => undefined);
}

function live(world: SimulatedWorld, steps: readonly Step[], from: Beginning): void {
  begin(world, from);
  for (const { act } of steps) act(world);
  world.drain();
  lawsAtRest(world);
}

function holds(options: WorldOptions, copies: 1 | "a few"): void {
  fc.assert(
    fc.property(history, beginning, (steps, from) => {
      const world = new SimulatedWorld(options);
      watchLaws(world, copies);
      live(world, steps, from);
    }),
    { numRuns: RUNS },
  );
}

describe("quiet, once, final and crash hold", () => {
  test("when calls take effect, and reads are out of date, no longer than we wait", () => {
    const lagMs = DECISION_LINGER_MS - 1_000;
    holds({ lateMs: POST_LINGER_MS - 500, lagMs, refusesAll: false }, 1);
  });

  test("when calls take effect later than we wait, and Slack sometimes refuses everything", () => {
    holds({ lateMs: 20_000, lagMs: 15_000, refusesAll: true }, "a few");
  });

  test("when two must approve, approvals are held, and time runs out", () => {
    const lagMs = DECISION_LINGER_MS - 1_000;
    const rule = { needs: 2, holdMs: 5_000, expiry: { afterMs: 60_000, outcome: "deny" } } as const;
    holds({ lateMs: POST_LINGER_MS - 500, lagMs, refusesAll: false, rule }, 1);
  });

  test("when people are reminded, requests escalate, and time runs out", () => {
    const lagMs = DECISION_LINGER_MS - 1_000;
    const named = { users: [APPROVER], groups: [], channels: [] };
    const elsewhere = { users: [], groups: [], channels: [ChannelId("C0LEADS")] };
    const followUp = {
      ...NO_FOLLOW_UP,
      remind: { afterMs: 10_000, doubles: true, atMost: 4 },
      escalate: [
        { afterMs: 20_000, to: named, call: null },
        { afterMs: 40_000, to: elsewhere, call: elsewhere },
      ],
    };
    const rule = { expiry: { afterMs: 120_000, outcome: "deny" }, followUp } as const;
    holds({ lateMs: POST_LINGER_MS - 500, lagMs, refusesAll: false, rule }, 1);
  });

  test("when approvals are held, and undecided requests expire", () => {
    const rule = { holdMs: 30_000, expiry: { afterMs: 120_000, outcome: "nothing" } } as const;
    holds({ lateMs: 20_000, lagMs: 15_000, refusesAll: true, rule }, "a few");
  });
});
