// The service as one process reaches it: each call may go wrong in its own ways, and is recorded when it leaves.

import type { Verdict } from "#src/domain/approval.ts";
import type { ApprovalId, RunId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import type { Snapshot, UnreadableItem } from "#src/domain/snapshot.ts";
import { type AgentService, type DecisionAnswer, type FetchedRun, PortError } from "#src/ports.ts";
import { BUSY_MS, callOut, type Fate, LATE_MS } from "./call-out.ts";
import type { Sent, SentCreate } from "./records.ts";
import type { Host } from "./setting.ts";

/** How old the answer of a stale read is (ms). */
const LAG_MS = 4_000;

const CREATE_FATES = [
  "done",
  "lost",
  "unanswered",
  "late",
  "hung",
  "busy",
  "refused",
  "dies",
  "dies-sent",
  "stalls",
  "outlasts",
] as const;
const LOOK_FATES = ["done", "lost", "slow", "busy", "dies"] as const;
const SEND_FATES = [...CREATE_FATES, "slow", "twice"] as const;

/** How the service may answer a read of a run. */
const LOOKS = ["fresh", "stale", "missing", "untold", "spoiled", "down", "key-refused"] as const;
/** How it may answer a decision that it has applied. */
const ANSWERS = ["plain", "odd", "odd-not-applied", "unavailable"] as const;

const SPOILED: UnreadableItem = { ids: [], code: "no-id", why: "it has no id", source: "{}", hidden: 0 };

export function agentService(from: Host): AgentService {
  return {
    create: (input, key) => create(from, input, key),
    fetchRun: (id, timeoutMs) => fetchRun(from, id, timeoutMs),
    sendDecision: (run, approval, decision) => sendDecision(from, { run, approval, ...decision }),
    health: () => Promise.resolve({ ok: true, latencyMs: 1, fault: null, publicFault: null, says: {} }),
  };
}

async function create(from: Host, input: string, key: string): Promise<Snapshot> {
  const { world } = from;
  const { service, timeline, judge } = world;
  const sent: SentCreate = { key, input, disproved: false };
  if (from.alive) judge.creates(sent);
  const askedAt = from.clock.monotonic();
  let made = false;
  try {
    return await callOut(from, {
      place: "POST run",
      fates: CREATE_FATES,
      changes: true,
      act: () => {
        made = true;
        const run = service.create(key, input, timeline.now);
        if (!from.alive) world.reached("a run starts for a dead process");
        return { ...run.says(timeline.now), askedAt };
      },
    });
  } catch (error) {
    sent.disproved = error instanceof PortError && error.applied === "no";
    if (made) world.reached("the answer to a create is lost");
    throw error;
  }
}

async function fetchRun(from: Host, id: RunId, timeoutMs?: number): Promise<FetchedRun> {
  const { world } = from;
  const { service, timeline, fortune } = world;
  const askedAt = from.clock.monotonic();
  const run = service.runs.get(id);
  const how = run === undefined ? "fresh" : fortune.way("GET run answers", LOOKS);
  if (how !== "fresh") world.note(`${from.name} GET ${id}: ${how}`);
  const limit = timeoutMs === undefined ? {} : { limitMs: timeoutMs };
  const fetched = await callOut(from, {
    place: `GET ${id}`,
    fates: LOOK_FATES,
    ...limit,
    act: (): FetchedRun | PortError => {
      if (how === "down") return refusal("http_503");
      if (how === "key-refused") return refusal("http_401");
      if (run === undefined || !run.known || how === "missing") return { type: "missing", askedAt };
      return { type: "snapshot", snapshot: spoilt({ ...run.says(timeline.now - lag(how)), askedAt }, how) };
    },
    onAnswer: (answer) => {
      if (answer instanceof PortError || answer.type === "missing") return;
      world.judge.receivesSnapshot(from, answer.snapshot);
      if (how === "stale" && answer.snapshot.pending?.some((each) => isResolved(from, id, each.id)))
        world.reached("a stale read after a decision");
    },
  });
  if (fetched instanceof PortError) throw fetched;
  return fetched;
}

const lag = (how: (typeof LOOKS)[number]): number => (how === "stale" ? LAG_MS : 0);

const isResolved = ({ world }: Host, run: RunId, approval: ApprovalId): boolean =>
  (world.service.runs.get(run)?.items.get(approval)?.resolved ?? null) !== null;

const refusal = (code: string): PortError => new PortError(code, { applied: "no", retry: "later", code });

function spoilt(snapshot: Snapshot, how: (typeof LOOKS)[number]): Snapshot {
  const { status, pending } = snapshot;
  if (how === "untold" && status === "awaiting_approval") return { ...snapshot, pending: null };
  if (how !== "spoiled" || pending === null || pending.length === 0) return snapshot;
  return { ...snapshot, pending: pending.slice(1), unreadable: [SPOILED] };
}

type Decision = {
  readonly run: RunId;
  readonly approval: ApprovalId;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly asked?: Json;
};

async function sendDecision(from: Host, decision: Decision): Promise<DecisionAnswer> {
  const { world } = from;
  const { timeline, service, fortune } = world;
  if (!from.alive) return callOut(from, { place: "", fates: ["done"], act: () => NO_ANSWER });
  const at = timeline.now;
  const sent: Sent = { from, ...decision, asked: decision.asked, at, answer: null, arrivesBy: at + 2_000 };
  world.judge.sends(sent);
  const how = fortune.way("POST decision answers", ANSWERS);
  if (how !== "plain") world.note(`the service answers ${how}`);
  const act = (): DecisionAnswer => {
    if (how === "odd-not-applied")
      return { type: "unsure", why: "202", answered: "accepted", code: "http_202" };
    const done = service.decide({ ...decision, at: timeline.now });
    world.note(`decision on ${decision.approval} of ${decision.run}: ${done}`);
    if (how === "odd")
      return { type: "unsure", why: "it said ok", answered: "ok: true", code: "http_200_unclear" };
    if (how === "unavailable") return { type: "unsure", why: "503", failedWith: 503, code: "http_503" };
    return ANSWER[done];
  };
  try {
    const fates: readonly [Fate, ...Fate[]] = SEND_FATES;
    sent.answer = await callOut(from, { place: "POST decision", fates, changes: true, act });
  } catch (error) {
    sent.answer = lostAnswer(error);
  }
  if (sent.answer.type === "unsure") sent.arrivesBy = at + LATE_MS + 500;
  world.judge.answered(sent);
  return sent.answer;
}

const NO_ANSWER: DecisionAnswer = { type: "unsure", why: "" };

const ANSWER = {
  applied: { type: "confirmed" },
  same: { type: "confirmed" },
  contrary: { type: "elsewhere", words: "it was decided otherwise" },
  "not-pending": { type: "refused", words: "409: not pending", code: "http_409" },
} as const;

function lostAnswer(error: unknown): DecisionAnswer {
  if (!(error instanceof PortError)) throw error;
  const { code, message: why } = error;
  if (error.applied === "maybe") return { type: "unsure", why, code };
  if (error.retry === "never") return { type: "refused", words: why, code };
  return { type: "later", afterMs: error.retryAfterMs ?? BUSY_MS, why, code };
}
