// Reloads the policy and the agent service's key without a restart, on SIGHUP and when their files change.

import type { PolicyHolder } from "./adapters/policy-file/policy-holder.ts";
import { createFileWatch, type FileWatch, isReadOnce } from "./adapters/policy-file/watch-files.ts";
import { policyLoadedEntry } from "./audit/entry.ts";
import type { Bot } from "./bot.ts";
import { type Config, readApiKey } from "./config.ts";
import { keepSecrets } from "./domain/text/own-secrets.ts";
import type { Clock } from "./engine/clock.ts";
import type { EventLog } from "./ports.ts";
import type { Store } from "./ports/store.ts";

export type ApiKey = {
  readonly now: () => string;
  /** Reads the key's file again. If the file holds no key, logs an error and keeps the old key in use. Never throws. */
  readonly reload: () => void;
  /** Whether the file held no key when it was last read. */
  readonly isFileUnusable: () => boolean;
};

/** If the key does not come from a file that can be read again, `reload` does nothing. */
export function createApiKey({ apiKey, apiKeyFile }: Config["agents"], log: EventLog): ApiKey {
  let inUse = apiKey;
  let isUnusable = false;
  const reload = (): void => {
    if (apiKeyFile === null || isReadOnce(apiKeyFile)) return;
    const read = readApiKey(apiKeyFile);
    isUnusable = "wrong" in read;
    if ("wrong" in read) {
      const facts = { variable: "AGENT_API_KEY_FILE", wrong: read.wrong };
      return log.error(facts, "cannot take over a new key for the agent service; the old one stays in use");
    }
    if (read.value === inUse) return;
    // Registered as a secret before its first use, so that it never appears in a log or a message.
    keepSecrets([read.value]);
    inUse = read.value;
    log.info({ variable: "AGENT_API_KEY_FILE" }, "took over a new key for the agent service");
  };
  return { now: () => inUse, reload, isFileUnusable: () => isUnusable };
}

export type Reloading = {
  readonly config: Config;
  readonly policy: PolicyHolder;
  readonly key: ApiKey;
  readonly store: Pick<Store, "audit">;
  readonly bot: Pick<Bot, "policyChanged">;
  readonly clock: Clock;
  readonly log: EventLog;
  /** Called after each attempt to reload the policy, with its success and its time (ms since 1970). */
  readonly onPolicy: (ok: boolean, at: number) => void;
  readonly auditStamp: () => Parameters<typeof policyLoadedEntry>[1];
};

/** `reload` reads both files immediately. It logs faults, keeps the previous policy or key in force, and never rejects. */
export function createReloading(parts: Reloading): FileWatch & { reload(): Promise<void> } {
  const { config, policy, key, log } = parts;
  let lastReload: Promise<unknown> = Promise.resolve();
  /** Runs reloads one after the other: a signal may arrive while a changed file is being read. */
  const reloadPolicyInTurn = (): Promise<void> => {
    const reload = lastReload.then(() => reloadPolicy(parts));
    lastReload = reload.catch(() => undefined);
    return reload;
  };
  const isUnrecorded = (): boolean => policy.lastReload().outcome === "not recorded";
  const watch = createFileWatch(parts, [
    {
      path: config.policyFile,
      content: policy.firstText ?? "",
      changed: async () => {
        await reloadPolicyInTurn();
        if (isUnrecorded()) throw new Error("the audit did not take the policy");
      },
    },
    { path: config.agents.apiKeyFile, content: key.now(), changed: async () => key.reload() },
  ]);
  const reload = async (): Promise<void> => {
    await watch.mark();
    key.reload();
    await reloadPolicyInTurn().catch((error: unknown) =>
      log.error({ error }, "the policy could not be read again"),
    );
    if (isUnrecorded()) watch.unmark();
  };
  return { ...watch, reload };
}

async function reloadPolicy({ policy, store, bot, log, onPolicy, auditStamp }: Reloading): Promise<void> {
  const changed = await policy.reload((loaded) => store.audit([policyLoadedEntry(loaded, auditStamp())]));
  const { at, outcome } = policy.lastReload();
  onPolicy(outcome === "in force", at);
  if (!changed) return;
  await bot.policyChanged().catch((error: unknown) => {
    log.error({ error }, "could not apply the new policy to the open cards; the next poll of each run does");
  });
}
