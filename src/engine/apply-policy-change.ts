import type { Context } from "../domain/context.ts";
import { applyPolicy } from "../domain/applied-rule.ts";
import type { RunStore } from "../ports/store.ts";
import type { Change } from "./change.ts";

const MAX_RUNS = 100_000;

/** Brings every pending approval, and so its card, under the current rule. */
export async function applyPolicyToWaiting(
  store: Pick<RunStore, "list" | "channelsInUse">,
  change: Change,
  context: () => Context,
): Promise<void> {
  const channels = await store.channelsInUse();
  if (channels.length === 0) return;
  const waiting = await store.list({ channels, only: "pending", limit: MAX_RUNS });
  for (const { key } of waiting) await change(key, (run) => applyPolicy(run, context()));
}
