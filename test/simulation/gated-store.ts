// The store as one process reaches it: a call may fail, be slow, lose its answer, or be the last thing that the process does.

import { PortError } from "#src/ports.ts";
import type { Store } from "#src/ports/store.ts";
import { NEVER } from "./call-out.ts";
import type { Host } from "./setting.ts";

/** These ask nothing of the database. */
const LOCAL: ReadonlySet<string> = new Set([
  "macOf",
  "auditPublicKey",
  "hearTampering",
  "onPassedOn",
  "close",
]);
/** These write. */
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
const WRITING: ReadonlySet<string> = new Set(WRITES);

type Way = "done" | "fails" | "slow" | "unanswered" | "dies" | "dies-done" | "stalls";
const READ_WAYS = ["done", "fails", "slow"] as const;
const WRITE_WAYS = ["done", "fails", "slow", "unanswered", "dies", "dies-done", "stalls"] as const;
const SLOW_MS = [20, 800] as const;
/** Between what a replica has read and what it writes, others write (ms). */
const WRITE_MS = [0, 8] as const;
/** Longer than a lease (ms) at most. */
const STALL_MS = [1_000, 30_000] as const;
const AWAY_MS = 200;

type Method = (...given: unknown[]) => unknown;

export function gatedStore(from: Host, store: Store): Store {
  const gated: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(store) as [string, Method][])
    gated[name] = LOCAL.has(name) ? method : (...given: unknown[]) => ask(from, name, method, given);
  return gated as Store;
}

const failed = (applied: "no" | "maybe"): PortError =>
  new PortError("the database does not answer", { applied, retry: "later", code: "store_down" });

async function ask(from: Host, name: string, method: Method, given: readonly unknown[]): Promise<unknown> {
  const { world } = from;
  if (!from.alive) return NEVER;
  if (from.cutOff) {
    await pause(from, AWAY_MS);
    throw failed("no");
  }
  const ways: readonly [Way, ...Way[]] = WRITING.has(name) ? WRITE_WAYS : READ_WAYS;
  const way = world.isShaky ? world.fortune.way(`store ${name}`, ways) : "done";
  if (way !== "done") world.note(`${from.name} store ${name}: ${way}`);
  if (way === "slow") await pause(from, world.fortune.within(...SLOW_MS));
  else if (world.replicas > 1 && WRITING.has(name)) await pause(from, world.fortune.within(...WRITE_MS));
  if (!from.alive) return NEVER;
  if (way === "fails") throw failed("no");
  if (way === "dies") return dies(from, name, "is about to be written");
  const [wrapped, onSaved] = withoutOnSaved(name, given);
  const done = await world.timeline.during(() => Promise.resolve(method(...wrapped)));
  if (!from.alive) return NEVER;
  if (way === "dies-done") return dies(from, name, "is written");
  if (way === "unanswered") {
    world.saw("the answer to a commit is lost");
    throw failed("maybe");
  }
  if (way === "stalls") {
    from.stall(world.fortune.within(...STALL_MS));
    await pause(from, 0);
  }
  onSaved();
  return done;
}

function dies(from: Host, name: string, when: string): Promise<never> {
  from.die(`${name} ${when}`);
  return NEVER;
}

const pause = (from: Host, ms: number): Promise<void> =>
  new Promise((resolve) => void from.later(ms, resolve));

type OnSaved = (stored: unknown) => void;

/** Who does not hear of the commit does not hear what the row is now. */
function withoutOnSaved(
  name: string,
  given: readonly unknown[],
): readonly [given: readonly unknown[], tell: () => void] {
  const facts = given[2] as { readonly onSaved?: OnSaved } | undefined;
  if (name !== "save" || facts?.onSaved === undefined) return [given, () => undefined];
  const { onSaved } = facts;
  let heard: readonly [unknown] | null = null;
  const later: OnSaved = (stored) => void (heard = [stored]);
  return [
    [given[0], given[1], { ...facts, onSaved: later }],
    () => {
      if (heard !== null) onSaved(heard[0]);
    },
  ];
}
