// What the gateway keeps across a restart: the keys that it created, and the usage.

import { z } from "zod";
import { mintKey } from "./api-keys.ts";
import { createStateFile, damaged, loadState } from "./state-file.ts";
import { owning } from "./state-lock.ts";
import { createLedger, usageRow } from "./usage.ts";
import type { Ledger } from "./usage.ts";

const gatewayState = z.object({
  version: z.literal(1),
  keys: z.array(z.string()),
  usage: z.array(usageRow),
});

export type GatewayMemory = {
  readonly keys: readonly string[];
  readonly ledger: Ledger;
  readonly saved: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Opens the state. If `given` is null, uses the stored keys or a new one. Rejects if another process uses the file. */
export const openGatewayMemory = (
  path: string | null,
  now: () => number,
  given: readonly string[] | null,
): Promise<GatewayMemory> => owning(path, () => readGatewayMemory(path, now, given));

async function readGatewayMemory(
  path: string | null,
  now: () => number,
  given: readonly string[] | null,
): Promise<GatewayMemory> {
  const before = path === null ? null : stateIn(path, await loadState(path));
  const minted = before?.keys ?? (given === null ? [mintKey()] : []);
  const keys = given ?? (minted.length === 0 ? [mintKey()] : minted);
  const ledger = createLedger(now, before?.usage ?? []);
  const state = (): z.infer<typeof gatewayState> => ({
    version: 1,
    keys: given === null ? [...keys] : minted,
    usage: [...ledger.rows()],
  });
  const file = path === null ? null : createStateFile(path, state);
  await file?.saved();
  return {
    keys,
    ledger,
    saved: async () => file?.saved(),
    close: async () => file?.close(),
  };
}

function stateIn(path: string, found: unknown): z.infer<typeof gatewayState> | null {
  if (found === undefined) return null;
  const parsed = gatewayState.safeParse(found);
  if (!parsed.success) throw damaged(path, "it is not a state of the gateway, or it has another version");
  return parsed.data;
}
