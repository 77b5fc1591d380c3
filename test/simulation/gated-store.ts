// The store as one process reaches it: a call may fail, be slow, lose its answer, or be the last thing that the process does.

import { PortError } from "#src/ports.ts";
import type { Store } from "#src/ports/store.ts";
import { never, suspend } from "./call-out.ts";
import type { Host } from "./setting.ts";

/** Methods that do not use the database. */
const LOCAL: ReadonlySet<string> = new Set(["macOf", "auditPublicKey", "onTampering", "onPassedOn", "close"]);
/** Methods that write. */
export const WRITES: readonly (keyof Store)[] = [
  "insert",
  "save",
  "saveForm",
  "saveForms",
  "audit",
  "auditOnce",
  "dispute",
  "claim",
  "renew",
  "forget",
  "addNotifications",
  "saveNotification",
  "putDocument",
];
/** Reads and writes of runs, behind which an answer about a run waits. */
const OF_RUNS: ReadonlySet<string> = new Set<keyof Store>(["load", "save"]);
const WRITING: ReadonlySet<string> = new Set(WRITES);
/** Writes whose commit may be stored only after its time limit, when the caller has given it up. */
const MAY_COME_LATE: ReadonlySet<string> = new Set<keyof Store>(["insert", "save"]);

type Way = "done" | "fails" | "slow" | "unanswered" | "dies" | "dies-done" | "stalls" | "outlasts" | "late";
const READ_WAYS = ["done", "fails", "slow"] as const;
const WRITE_WAYS = [
  "done",
  "fails",
  "slow",
  "unanswered",
  "dies",
  "dies-done",
  "stalls",
  "outlasts",
] as const;
const LATE_WAYS = [...WRITE_WAYS, "late"] as const;
const SLOW_MS = [20, 800] as const;
/** How long after the time limit a late commit is stored (ms). */
const LATE_MS = [300, 25_000] as const;
/** How long a write of a replica takes (ms). Meanwhile, other replicas may write. */
const WRITE_MS = [0, 8] as const;
const AWAY_MS = 200;

type Method = (...args: unknown[]) => unknown;

export function gatedStore(from: Host, store: Store): Store {
  const gated: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(store) as [string, Method][])
    gated[name] = LOCAL.has(name) ? method : (...args: unknown[]) => ask(from, name, method, args);
  return gated as Store;
}

const failed = (applied: "no" | "maybe"): PortError =>
  new PortError("the database does not answer", { applied, retry: "later", code: "store_down" });

async function ask(from: Host, name: string, method: Method, args: readonly unknown[]): Promise<unknown> {
  const { world } = from;
  if (!from.alive) return never();
  if (from.cutOff) {
    await pause(from, AWAY_MS);
    throw failed("no");
  }
  const began = world.timeline.now;
  const way = world.isShaky ? world.fortune.way(`store ${name}`, waysOf(name)) : "done";
  if (way !== "done") world.note(`${from.name} store ${name}: ${way}`);
  if (way === "slow") await pause(from, world.fortune.within(...SLOW_MS));
  else if (world.replicas > 1 && WRITING.has(name)) await pause(from, world.fortune.within(...WRITE_MS));
  if (!from.alive) return never();
  if (way === "fails") throw failed("no");
  if (way === "dies") return dies(from, name, "is about to be written");
  const [wrapped, onSaved] = withoutOnSaved(name, args);
  if (way === "late") {
    commitLate(from, () => method(...wrapped));
    throw failed("maybe");
  }
  const done = await world.timeline.during(() => Promise.resolve(method(...wrapped)));
  if (!from.alive) return never();
  if (way === "dies-done") return dies(from, name, "is written");
  if (way === "unanswered") {
    world.reached("the answer to a commit is lost");
    throw failed("maybe");
  }
  if (way === "stalls" || way === "outlasts") {
    suspend(from, way);
    await pause(from, 0);
  }
  if (OF_RUNS.has(name)) noteStored(from, began);
  onSaved();
  return done;
}

function noteStored(from: Host, began: number): void {
  const { since, until } = from.storing;
  from.storing = { since: began <= until ? Math.min(since, began) : began, until: from.world.timeline.now };
}

function waysOf(name: string): readonly [Way, ...Way[]] {
  if (MAY_COME_LATE.has(name)) return LATE_WAYS;
  return WRITING.has(name) ? WRITE_WAYS : READ_WAYS;
}

/** Not if the process dies before: a server drops what a dead client has not committed. */
function commitLate(from: Host, write: () => unknown): void {
  const { world } = from;
  world.timeline.after(world.fortune.within(...LATE_MS), () => {
    if (!from.alive) return;
    world.note(`${from.name} a late commit is stored`);
    world.reached("a commit is stored after its time limit");
    void world.timeline.during(async () => write()).catch(() => undefined);
  });
}

function dies(from: Host, name: string, when: string): Promise<never> {
  from.die(`${name} ${when}`);
  return never();
}

const pause = (from: Host, ms: number): Promise<void> =>
  new Promise((resolve) => void from.later(ms, resolve));

type OnSaved = (stored: unknown) => void;

/** Defers `onSaved` until the answer to the commit is received: a process that misses the answer does not learn the new row either. */
function withoutOnSaved(
  name: string,
  args: readonly unknown[],
): readonly [args: readonly unknown[], notifySaved: () => void] {
  const facts = args[2] as { readonly onSaved?: OnSaved } | undefined;
  if (name !== "save" || facts?.onSaved === undefined) return [args, () => undefined];
  const { onSaved } = facts;
  let saved: readonly [unknown] | null = null;
  const later: OnSaved = (stored) => void (saved = [stored]);
  return [
    [args[0], args[1], { ...facts, onSaved: later }],
    () => {
      if (saved !== null) onSaved(saved[0]);
    },
  ];
}
