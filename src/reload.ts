// What a running Countersign takes over without a restart, on SIGHUP and when the files change: the policy, and the agent service's key.

import type { PolicyHolder } from "./adapters/policy-file/policy-holder.ts";
import { createFileWatch, type FileWatch } from "./adapters/policy-file/watch-files.ts";
import { policyLoadedEntry } from "./audit/entry.ts";
import type { Bot } from "./bot.ts";
import { type Config, readApiKey } from "./config.ts";
import { keepSecrets } from "./domain/text/own-secrets.ts";
import type { Clock } from "./engine/clock.ts";
import type { EventLog } from "./ports.ts";
import type { Store } from "./ports/store.ts";

export type ApiKey = {
  readonly now: () => string;
  /** Reads its file again. If that holds no key, the old one stays in use, and the log says so. Never throws. */
  readonly reload: () => void;
};

/** Without a file the key stays as it is. */
export function createApiKey({ apiKey, apiKeyFile }: Config["agents"], log: EventLog): ApiKey {
  let inUse = apiKey;
  const reload = (): void => {
    if (apiKeyFile === null) return;
    const read = readApiKey(apiKeyFile);
    if ("wrong" in read) {
      const facts = { variable: "AGENT_API_KEY_FILE", wrong: read.wrong };
      return log.error(facts, "cannot take over a new key for the agent service; the old one stays in use");
    }
    if (read.value === inUse) return;
    // Before it is used, so that it appears in no log and no message.
    keepSecrets([read.value]);
    inUse = read.value;
    log.info({ variable: "AGENT_API_KEY_FILE" }, "took over a new key for the agent service");
  };
  return { now: () => inUse, reload };
}

export type Reloading = {
  readonly config: Config;
  readonly policy: PolicyHolder;
  readonly key: ApiKey;
  readonly store: Pick<Store, "audit">;
  readonly flow: Pick<Bot, "policyChanged">;
  readonly clock: Clock;
  readonly log: EventLog;
  /** Hears whether the policy could be read again, and when (ms since 1970). */
  readonly onPolicy: (ok: boolean, at: number) => void;
  readonly stamp: () => Parameters<typeof policyLoadedEntry>[1];
};

/** `reload` reads both files now. It logs faults, keeps what was in force, and never rejects. */
export function createReloading(parts: Reloading): FileWatch & { reload(): Promise<void> } {
  const { config, policy, key, log } = parts;
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: a signal may come while a changed file is read. */
  const inTurn = <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
  const policyAgain = (): Promise<void> => inTurn(() => reloadPolicy(parts));
  const isUntaken = (): boolean => policy.lastReload().outcome === "not recorded";
  const watch = createFileWatch(parts, [
    {
      path: config.policyFile,
      content: policy.firstText ?? "",
      changed: async () => {
        await policyAgain();
        if (isUntaken()) throw new Error("the audit did not take the policy");
      },
    },
    { path: config.agents.apiKeyFile, content: key.now(), changed: async () => key.reload() },
  ]);
  const reload = async (): Promise<void> => {
    await watch.mark();
    key.reload();
    await policyAgain().catch((error: unknown) => log.error({ error }, "the policy could not be read again"));
    if (isUntaken()) watch.unmark();
  };
  return { ...watch, reload };
}

async function reloadPolicy({ policy, store, flow, log, onPolicy, stamp }: Reloading): Promise<void> {
  const changed = await policy.reload((loaded) => store.audit([policyLoadedEntry(loaded, stamp())]));
  const { at, outcome } = policy.lastReload();
  onPolicy(outcome === "in force", at);
  if (!changed) return;
  await flow.policyChanged().catch((error: unknown) => {
    log.error({ error }, "could not apply the new policy to the open cards; the next poll of each run does");
  });
}
