import type { Context } from "../core/context.ts";
import { underPolicy } from "../core/ruling.ts";
import type { Change } from "./change.ts";
import type { Store } from "./ports.ts";

const MAX_RUNS = 100_000;

/** Every card that waits for a decision shows the rule it stands under now. */
export async function bringUnderPolicy(
  store: Pick<Store, "list" | "channelsInUse">,
  change: Change,
  context: () => Context,
): Promise<void> {
  const channels = await store.channelsInUse();
  if (channels.length === 0) return;
  const waiting = await store.list({ channels, only: "pending", limit: MAX_RUNS });
  for (const { key } of waiting) await change(key, (run) => underPolicy(run, context()));
}
